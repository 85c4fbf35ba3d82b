import type { VNode } from 'preact';
import type { StateTone } from './model/words.js';

// Drawn on 12 × 12. Each state has a shape of its own, so that nobody needs the colour.
const SHAPES: Readonly<Record<StateTone, string>> = {
  ok: 'm2 6.5 2.7 2.7L10 3.4',
  err: 'm2.8 2.8 6.4 6.4m0-6.4L2.8 9.2',
  ask: 'M3.9 4.2a2.1 2.1 0 1 1 3 1.9c-.7.4-.9.8-.9 1.5M6 10h.01',
  running: 'M6 1.5A4.5 4.5 0 1 1 1.5 6',
  open: 'M1.5 4.3h9m-9 3.4h9',
  off: 'M6 1.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM2.9 9.1l6.2-6.2',
};

/** The shape of a state. The word stands beside it. */
export function StateMark({ tone }: { readonly tone: StateTone }): VNode {
  return (
    <svg
      class={`state-mark ${tone}`}
      width="12"
      height="12"
      viewBox="0 0 12 12"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={SHAPES[tone]} />
    </svg>
  );
}

/** A state as a shape and a word. */
export function StateWord({ tone, word }: { readonly tone: StateTone; readonly word: string }): VNode {
  return (
    <span class={`state-word ${tone}`}>
      <StateMark tone={tone} />
      {word}
    </span>
  );
}
