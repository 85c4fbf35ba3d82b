// The journal of a run, which carries it from one round to the next.

import type { JsonObject } from '../../jsonrpc/message.js';
import { assertJson } from '../../protocol/encoding/json-value.js';

/** The events of the earlier rounds of a run: answers, results of steps, and the messages that the client already got. */
export interface Journal {
  /** The id of the run. It gives a step the same idempotency key in every round. */
  readonly run: string;
  readonly answers: ReadonlyMap<string, unknown>;
  readonly steps: ReadonlyMap<string, unknown>;
  /** Every key, in the order of first use, with the digest of its question; the digest of a step is empty. */
  readonly keys: ReadonlyMap<string, string>;
  /** How often each question has changed after it was answered. */
  readonly changes: ReadonlyMap<string, number>;
  /** Whether two questions or steps ever ran in parallel. */
  readonly parallel: boolean;
  /** The number of messages that were logged, at any level. */
  readonly logCount: number;
  /** The last progress that was sent. */
  readonly lastProgress: number | undefined;
}

/** The part of a journal that a run has added since it was last taken, so that a task writes each result once. */
export interface JournalNews {
  readonly steps: readonly (readonly [key: string, result: unknown])[];
  /** The keys that are new, or whose question has changed, with the digests of their questions. */
  readonly keys: readonly (readonly [key: string, digest: string])[];
  readonly changes: readonly (readonly [key: string, count: number])[];
  /** Whether two questions or steps ran in parallel for the first time. */
  readonly parallel: boolean;
}

/** Makes the journal of a new run. Runs with the same id give their steps the same idempotency keys. */
export function newJournal(run: string = crypto.randomUUID()): Journal {
  return {
    run,
    answers: new Map(),
    steps: new Map(),
    keys: new Map(),
    changes: new Map(),
    parallel: false,
    logCount: 0,
    lastProgress: undefined,
  };
}

// Maps are written as entries, not as objects: a key may be named `__proto__`.

/** Writes a journal as JSON. */
export function writeJournal(journal: Journal): JsonObject {
  const { run, answers, steps, keys, changes, parallel, logCount, lastProgress } = journal;
  return {
    r: run,
    a: [...answers],
    s: [...steps],
    k: [...keys],
    ...(changes.size > 0 && { c: [...changes] }),
    ...(parallel && { b: 1 }),
    ...(logCount > 0 && { l: logCount }),
    ...(lastProgress !== undefined && { p: lastProgress }),
  };
}

/** Reads the JSON that `writeJournal` wrote. The caller has checked that it comes from there. */
export function readJournal(json: JsonObject): Journal {
  return {
    run: json['r'] as string,
    answers: new Map(json['a'] as [string, unknown][]),
    steps: new Map(json['s'] as [string, unknown][]),
    keys: new Map(json['k'] as [string, string][]),
    changes: new Map((json['c'] as [string, number][] | undefined) ?? []),
    parallel: json['b'] === 1,
    logCount: (json['l'] as number | undefined) ?? 0,
    lastProgress: json['p'] as number | undefined,
  };
}

/** The result of a step as JSON. */
export interface StepResult {
  /** The value that this round and later rounds get. */
  readonly value: unknown;
  readonly json: string;
}

/** Makes the result of a step, which must be JSON. */
export function stepResult(key: string, result: unknown): StepResult {
  assertJson(result, `The result of the step "${key}" cannot be kept`);
  const json = JSON.stringify(result) ?? 'null';
  return { value: JSON.parse(json), json };
}
