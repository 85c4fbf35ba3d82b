// Which stories the timeline shows, by kind and by state.

import type { Story, StoryKind } from '../../../src/inspector/contract/story.js';

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

export type KindFilter =
  | 'all'
  | 'calls'
  | 'tasks'
  | 'resources'
  | 'prompts'
  | 'lists'
  | 'connection'
  | 'other';
export type StateFilter = 'any' | 'going' | 'asks' | 'ok' | 'failed' | 'cancelled' | 'pinned';

export const KIND_FILTERS: readonly Choice<KindFilter>[] = [
  { value: 'all', label: 'All kinds' },
  { value: 'calls', label: 'Tools' },
  { value: 'tasks', label: 'Tasks' },
  { value: 'resources', label: 'Resources' },
  { value: 'prompts', label: 'Prompts' },
  { value: 'lists', label: 'Lists' },
  { value: 'connection', label: 'Connection' },
  { value: 'other', label: 'Other requests' },
];

export const STATE_FILTERS: readonly Choice<StateFilter>[] = [
  { value: 'any', label: 'Any state' },
  { value: 'going', label: 'Running' },
  { value: 'asks', label: 'Waiting for you' },
  { value: 'ok', label: 'Ok' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
  { value: 'pinned', label: 'Pinned' },
];

const KINDS: Readonly<Record<StoryKind, KindFilter>> = {
  connect: 'connection',
  unsolicited: 'connection',
  tool: 'calls',
  task: 'tasks',
  read: 'resources',
  subscription: 'resources',
  prompt: 'prompts',
  list: 'lists',
  complete: 'other',
  request: 'other',
};

const STATES: Readonly<Record<Story['state'], StateFilter>> = {
  running: 'going',
  open: 'going',
  asks: 'asks',
  ok: 'ok',
  'tool-error': 'failed',
  error: 'failed',
  cancelled: 'cancelled',
};

/** Whether a story is of this kind and in this state. A tool that runs as a task is both a call and a task. */
export function fits(story: Story, kind: KindFilter, state: StateFilter): boolean {
  if (kind !== 'all' && KINDS[story.kind] !== kind && !(kind === 'tasks' && story.task)) return false;
  if (state === 'any') return true;
  return state === 'pinned' ? story.isPinned : STATES[story.state] === state;
}
