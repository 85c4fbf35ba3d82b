// The runs of tapes. They continue, and are kept, while the page shows another place: a call may ask the user there.

import { type Signal, signal } from '@preact/signals';
import type { TapeReplayView } from '../../../src/inspector/contract/tape.js';
import { run } from '../../state/api.js';

export interface ReplayState {
  readonly isRunning: boolean;
  readonly view?: TapeReplayView;
  readonly failure?: string;
}

const replays: Signal<ReadonlyMap<string, ReplayState>> = signal(new Map());

export function replayOf(tape: string): ReplayState {
  return replays.value.get(tape) ?? { isRunning: false };
}

/** Makes the calls of a tape again. */
export async function replay(input: {
  readonly tape: string;
  readonly connection: string;
  readonly allow: readonly string[];
}): Promise<void> {
  if (replayOf(input.tape).isRunning) return;
  set(input.tape, { isRunning: true });
  try {
    set(input.tape, { isRunning: false, view: await run('replayTape', input) });
  } catch (error) {
    set(input.tape, { isRunning: false, failure: error instanceof Error ? error.message : String(error) });
  }
}

export function forgetReplay(tape: string): void {
  const next = new Map(replays.value);
  next.delete(tape);
  replays.value = next;
}

function set(tape: string, state: ReplayState): void {
  replays.value = new Map(replays.value).set(tape, state);
}
