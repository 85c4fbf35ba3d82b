import type { VNode } from 'preact';
import type { Story } from '../../src/inspector/contract/story.js';
import { Icon, type IconName } from './icon.js';

const MARKS = {
  running: ['play', 'running', 'plain'],
  asks: ['question', 'waiting for you', 'ask'],
  open: ['eye', 'open', 'plain'],
  ok: ['check', 'ok', 'ok'],
  'tool-error': ['cross', 'tool error', 'err'],
  error: ['cross', 'error', 'err'],
  cancelled: ['stop', 'cancelled', 'plain'],
} as const satisfies Record<Story['state'], readonly [IconName, string, string]>;

export function stateWord(state: Story['state']): string {
  return MARKS[state][1];
}

/** The state of a call as a shape and a word, in the colour of its meaning. */
export function StateMark({
  state,
  hasWord = true,
}: {
  readonly state: Story['state'];
  readonly hasWord?: boolean;
}): VNode {
  const [icon, word, tone] = MARKS[state];
  return (
    <span class={`state-mark ${tone}`}>
      <Icon name={icon} size={14} label={hasWord ? undefined : word} />
      {hasWord && word}
    </span>
  );
}
