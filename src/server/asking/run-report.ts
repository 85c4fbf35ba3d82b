// Reports what a run meets to an inspector that listens in this process. Nothing is made unless one does.

import type { Call } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { type RunEvent, storyOf } from '../../protocol/telemetry/journal-event.js';
import { journalEvents } from '../../protocol/telemetry/tracing.js';

const MAX_VALUE = 300;

export const QUESTION_CHANGED =
  'The question is not the one that was answered. Build it only from the input, from answers and from the results of steps.';

type Facts = Pick<RunEvent, 'idempotencyKey' | 'ms' | 'warning'> & { readonly value?: unknown };

/** The reports of one run. */
export class RunReport {
  readonly #run = crypto.randomUUID();
  readonly #story: number;

  constructor(story: number) {
    this.#story = story;
  }

  met(kind: RunEvent['kind'], key: string, cell: RunEvent['cell'], { value, ...facts }: Facts = {}): void {
    journalEvents?.publish({
      run: this.#run,
      story: this.#story,
      kind,
      key: shorten(key, MAX_VALUE),
      cell,
      ...(value !== undefined && { value: textOf(value) }),
      ...facts,
    });
  }

  /** Begins a step. The returned function reports its end. */
  step(key: string, idempotencyKey: string): (cell: 'ran' | 'threw', value: unknown) => void {
    const started = performance.now();
    return (cell, value) =>
      this.met('step', key, cell, { value, idempotencyKey, ms: performance.now() - started });
  }
}

/** The report of a run for a call of the inspector; undefined for all other calls, and if nobody listens. */
export function reportOf(call: Call): RunReport | undefined {
  const story = journalEvents?.hasSubscribers ? storyOf(call) : undefined;
  return story === undefined ? undefined : new RunReport(story);
}

function textOf(value: unknown): string {
  if (value instanceof Error) return shorten(value.message, MAX_VALUE);
  try {
    return shorten(JSON.stringify(value) ?? '', MAX_VALUE);
  } catch {
    return '';
  }
}
