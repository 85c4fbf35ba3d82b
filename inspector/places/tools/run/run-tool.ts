// Runs tools, and knows their runs.

import { batch, type Signal, signal } from '@preact/signals';
import type { Failure } from '../../../../src/inspector/contract/failure.js';
import type { Story } from '../../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { CommandFailure, run } from '../../../state/api.js';
import { shownRun } from '../../../state/shown-run.js';
import { ownStories } from '../../../state/store.js';

/** A command that did not reach the server. */
export const commandFailure: Signal<{ readonly tool: string; readonly failure: Failure } | undefined> =
  signal(undefined);

export function runTool(input: {
  connection: string;
  tool: string;
  args: JsonObject;
  asTask?: boolean;
}): void {
  void show(input.tool, run('call', input));
}

export function runAgain(story: Story): void {
  void show(story.title, run('again', { story: story.id }));
}

export function stopRun(story: Story): void {
  run('stop', { story: story.id }).catch(tell(story.title));
}

/** The runs of a tool, oldest first. */
export function runsOf(tool: string): readonly Story[] {
  return ownStories.value.filter(
    ({ title, method, kind }) => title === tool && method === 'tools/call' && kind !== 'unsolicited',
  );
}

/** The run that is shown: the one that was picked, or the latest. Those of earlier visits are old news: they are shown if they are picked. */
export function shownOf(runs: readonly Story[]): Story | undefined {
  return (
    runs.find(({ id }) => id === shownRun.value) ?? runs.findLast(({ earlier }) => earlier === undefined)
  );
}

export function isRunning({ state }: Story): boolean {
  return state === 'running' || state === 'asks' || state === 'open';
}

async function show(tool: string, started: Promise<{ story: number }>): Promise<void> {
  commandFailure.value = undefined;
  try {
    const { story } = await started;
    batch(() => {
      shownRun.value = story;
    });
  } catch (error) {
    tell(tool)(error);
  }
}

function tell(tool: string): (error: unknown) => void {
  return (error) => {
    const failure =
      error instanceof CommandFailure ? error.failure : { code: 'failed', message: String(error) };
    commandFailure.value = { tool, failure };
  };
}
