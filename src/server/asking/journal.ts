import type { JsonObject } from '../../jsonrpc/message.js';

/** What happened in the earlier rounds of a run: answers, results of steps, and what was already said to the client. */
export interface Journal {
  /** Names the run, so that a step has the same idempotency key in every round. */
  readonly run: string;
  readonly answers: ReadonlyMap<string, unknown>;
  readonly steps: ReadonlyMap<string, unknown>;
  /** Every key, in the order of first use, with the digest of the question that was shown under it; a step has none. */
  readonly keys: ReadonlyMap<string, string>;
  /** How often a question was answered and then asked in other words. */
  readonly changes: ReadonlyMap<string, number>;
  /** Whether two questions or steps were ever begun side by side. */
  readonly parallel: boolean;
  /** How many log messages went out, and how far progress was. */
  readonly logged: number;
  readonly reached: number | undefined;
}

/** A run that has a name already gives its steps the same keys as an earlier one of that name. */
export function newJournal(run: string = crypto.randomUUID()): Journal {
  return {
    run,
    answers: new Map(),
    steps: new Map(),
    keys: new Map(),
    changes: new Map(),
    parallel: false,
    logged: 0,
    reached: undefined,
  };
}

// Entries and not objects: a key may be named `__proto__`.

export function writeJournal(journal: Journal): JsonObject {
  const { run, answers, steps, keys, changes, parallel, logged, reached } = journal;
  return {
    r: run,
    a: [...answers],
    s: [...steps],
    k: [...keys],
    ...(changes.size > 0 && { c: [...changes] }),
    ...(parallel && { b: 1 }),
    ...(logged > 0 && { l: logged }),
    ...(reached !== undefined && { p: reached }),
  };
}

/** Reads what `writeJournal` wrote; where it came from has been checked. */
export function readJournal(json: JsonObject): Journal {
  return {
    run: json['r'] as string,
    answers: new Map(json['a'] as [string, unknown][]),
    steps: new Map(json['s'] as [string, unknown][]),
    keys: new Map(json['k'] as [string, string][]),
    changes: new Map((json['c'] as [string, number][] | undefined) ?? []),
    parallel: json['b'] === 1,
    logged: (json['l'] as number | undefined) ?? 0,
    reached: json['p'] as number | undefined,
  };
}
