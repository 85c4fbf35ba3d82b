// The journal of a task in the store: an item with the call, then one item for everything that a write adds.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Auth, Call, Peer } from '../../../protocol/call.js';
import { principalOf, storableAuth } from '../../../protocol/caller.js';
import { traceOf } from '../../../protocol/telemetry/trace-keys.js';
import { type Journal, type JournalNews, readJournal, writeJournal } from '../../../server/asking/journal.js';
import { sizeOf } from '../../../server/asking/size.js';
import type { MigratedTask, TaskWork } from '../../../server/handle/task-host.js';
import type { ListItem } from '../../../state/store.js';
import type { Inbox } from './inbox.js';

/** The call that became the task, with everything that is needed to make it again. */
export interface TaskCall {
  /** The caller that may see the task. */
  readonly principal: string;
  /** The caller as the handler sees it. */
  readonly auth?: Auth;
  readonly isLocal?: true;
  /** Whether a program of a model has made it. */
  readonly inProgram?: true;
  readonly tool: string;
  /** The version of the tool; absent if the tool has no versions. */
  readonly version?: string;
  readonly args: unknown;
  readonly peer: Peer;
  /** The trace that the call belongs to. */
  readonly trace?: JsonObject;
}

/** The round in which a question was asked last, and the digest of that question. */
export interface Round {
  readonly round: number;
  readonly digest: string;
}

/** The rounds of questions that a write shows to the client. */
export type AskedRounds = readonly (readonly [key: string, round: number, digest: string])[];

/** A journal as it was read. */
export interface StoredJournal {
  readonly call: TaskCall;
  readonly journal: Journal;
  readonly rounds: Map<string, Round>;
  /** The number of items. */
  readonly size: number;
  readonly bytes: number;
}

/** The part of a call that its task keeps. */
export function taskCallOf(call: Call, { name, version, args }: TaskWork): TaskCall {
  const { auth, isLocal, inProgram, peer } = call;
  const trace = traceOf(call);
  return {
    principal: principalOf(call),
    ...(auth && { auth: storableAuth(auth) }),
    ...(isLocal && { isLocal }),
    ...(inProgram && { inProgram }),
    tool: name,
    ...(version !== undefined && { version }),
    args,
    peer,
    ...(trace && { trace }),
  };
}

/** The first item of a journal. */
export function firstItem(call: TaskCall, journal: Journal): JsonObject {
  return { call: { ...call }, j: writeJournal(journal) };
}

/** A further item; undefined if there is nothing to write. */
export function newsItem(news: JournalNews | undefined, asked: AskedRounds): JsonObject | undefined {
  if (news === undefined && asked.length === 0) return undefined;
  const { steps = [], keys = [], changes = [], parallel = false } = news ?? {};
  return {
    ...(steps.length > 0 && { s: steps }),
    ...(keys.length > 0 && { k: keys }),
    ...(changes.length > 0 && { c: changes }),
    ...(parallel && { b: 1 }),
    ...(asked.length > 0 && { q: asked }),
  };
}

/** An item that replaces everything before it: the journal as another version of the tool continues it. */
export function migrationItem({ version, args, journal }: MigratedTask): JsonObject {
  return { m: { version, args, j: writeJournal(journal) } };
}

/** One item with the additions of two. */
export function mergeItems(one: JsonObject | undefined, two: JsonObject | undefined): JsonObject | undefined {
  if (one === undefined || two === undefined) return one ?? two;
  const merged: JsonObject = { ...one };
  for (const [name, value] of Object.entries(two))
    merged[name] = Array.isArray(value) ? [...pairs(merged[name]), ...value] : value;
  return merged;
}

/** Reads the items of a journal, and the answers that count: those to the questions as they were last asked. */
export function readJournalItems(items: readonly ListItem[], inbox: Inbox): StoredJournal {
  const first = items[0]?.value;
  if (first === undefined || !isObject(first['call']) || !isObject(first['j']))
    throw new TypeError('The journal of the task is missing or damaged');
  const base = readJournal(first['j']);
  const [answers, steps] = [new Map(base.answers), new Map(base.steps)];
  const [keys, changes] = [new Map(base.keys), new Map(base.changes)];
  const rounds = new Map<string, Round>();
  let call = first['call'] as unknown as TaskCall;
  let { parallel } = base;
  let bytes = 0;
  for (const { value } of items) {
    bytes += sizeOf(JSON.stringify(value));
    if (isObject(value['m'])) {
      const { version, args, j } = value['m'] as { version: string; args: unknown; j: JsonObject };
      const migrated = readJournal(j);
      call = { ...call, version, args };
      replace(answers, migrated.answers);
      replace(steps, migrated.steps);
      replace(keys, migrated.keys);
      changes.clear();
      // A question that was asked before keeps its round, so that the next one has a higher number, and gets no answer from the inbox.
      for (const [key, { round }] of rounds) rounds.set(key, { round, digest: '' });
    }
    for (const [key, result] of pairs<unknown>(value['s'])) steps.set(key, result);
    for (const [key, digest] of pairs<string>(value['k'])) {
      // An answer counts only for the question that the client was shown.
      if (keys.get(key) !== digest) answers.delete(key);
      keys.set(key, digest);
    }
    for (const [key, count] of pairs<number>(value['c'])) changes.set(key, count);
    for (const [key, round, digest] of (value['q'] ?? []) as AskedRounds) rounds.set(key, { round, digest });
    if (value['b'] === 1) parallel = true;
  }
  for (const [key, { round, digest }] of rounds) {
    const answer = inbox.find(key, round);
    if (answer !== undefined && keys.get(key) === digest) answers.set(key, answer.response);
  }
  return {
    call,
    journal: { ...base, answers, steps, keys, changes, parallel },
    rounds,
    size: items.length,
    bytes,
  };
}

function replace<T>(map: Map<string, T>, by: ReadonlyMap<string, T>): void {
  map.clear();
  for (const [key, value] of by) map.set(key, value);
}

function pairs<T>(value: unknown): readonly (readonly [string, T])[] {
  return (value ?? []) as readonly (readonly [string, T])[];
}
