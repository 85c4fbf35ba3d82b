import type { VNode } from 'preact';
import type { StateTone } from './model/words.js';

/** The shape of a state, drawn by the style sheet: a list has hundreds of them. The word stands beside it. */
export function StateMark({ tone }: { readonly tone: StateTone }): VNode {
  return <i class={`timeline-mark ${tone}`} />;
}

/** A state as a shape and a word. */
export function StateWord({ tone, word }: { readonly tone: StateTone; readonly word: string }): VNode {
  return (
    <span class={`timeline-state ${tone}`}>
      <StateMark tone={tone} />
      {word}
    </span>
  );
}
