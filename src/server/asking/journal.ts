import type { JsonObject } from '../../jsonrpc/message.js';

/** What happened in the earlier rounds of a run: answers, results of steps, and what was already said to the client. */
export interface Journal {
  /** Names the run, so that a step has the same idempotency key in every round. */
  readonly run: string;
  readonly answers: ReadonlyMap<string, unknown>;
  readonly steps: ReadonlyMap<string, unknown>;
  /** Every key that was asked, answered or not. */
  readonly asked: ReadonlySet<string>;
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
    asked: new Set(),
    logged: 0,
    reached: undefined,
  };
}

// Entries and not objects: a key may be named `__proto__`.

export function writeJournal(journal: Journal): JsonObject {
  const { run, answers, steps, asked, logged, reached } = journal;
  return {
    r: run,
    a: [...answers],
    s: [...steps],
    q: [...asked],
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
    asked: new Set(json['q'] as string[]),
    logged: (json['l'] as number | undefined) ?? 0,
    reached: json['p'] as number | undefined,
  };
}
