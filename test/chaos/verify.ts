// Compares what happened with what the clients saw.

import type { Effect, History, Observation } from './history.js';

/** The violations of the promises that a server on many processes makes. */
export interface Violations {
  /** Tasks that were created and have no result, and rows that are missing. */
  readonly lost: readonly string[];
  /** Effects that happened again although they were recorded, and rows that are there twice. */
  readonly doubled: readonly string[];
  /** Steps that ran again with another idempotency key, and keys that two steps share. */
  readonly rekeyed: readonly string[];
  /** Events of a call's stream that are missing, and changes that a subscriber has not learned of. */
  readonly unheard: readonly string[];
  /** Events of a call's stream that arrived twice or in the wrong order. */
  readonly repeated: readonly string[];
  /** Answers and results that belong to another question or call. */
  readonly mixed: readonly string[];
  /** Questions, answers and results that belong to another caller. */
  readonly exposed: readonly string[];
}

type StepRun = Extract<Effect, { kind: 'step' }>;
type Saw<Kind extends Observation['saw']> = Extract<Observation, { saw: Kind }>;

/** Lists everything in a history that must not happen. */
export function verify(history: History): Violations {
  const jobs = verifyJobs(history);
  const rows = verifyRows(history);
  const streams = verifyStreams(history);
  return {
    lost: [...verifyTasks(history), ...rows.lost],
    doubled: [...jobs.doubled, ...verifyPayments(history), ...rows.doubled],
    rekeyed: verifyKeys(history),
    unheard: [...streams.unheard, ...verifyChanges(history)],
    repeated: streams.repeated,
    ...verifyOwners(history),
  };
}

/** The runs of each step, in order. */
export function runsOf({ effects }: History): Map<string, StepRun[]> {
  const runs = new Map<string, StepRun[]>();
  for (const effect of effects) {
    if (effect.kind !== 'step') continue;
    const place = placeOf(effect);
    runs.set(place, [...(runs.get(place) ?? []), effect]);
  }
  return runs;
}

function placeOf({ job, step }: { readonly job: string; readonly step: number }): string {
  return `job ${job} step ${step}`;
}

function observed<Kind extends Observation['saw']>({ observations }: History, saw: Kind): Saw<Kind>[] {
  return observations.filter((each): each is Saw<Kind> => each.saw === saw);
}

function verifyTasks(history: History): string[] {
  const ended = new Set(observed(history, 'job').map(({ job }) => job));
  const reasons = new Map(observed(history, 'failure').map(({ job, reason }) => [job, reason]));
  return observed(history, 'task')
    .filter(({ job }) => !ended.has(job))
    .map(({ job }) => `job ${job}: ${reasons.get(job) ?? 'it has not ended'}`);
}

// A step may run again only if its result was not recorded, so the run that was recorded is the last one.
function verifyJobs(history: History): { doubled: string[] } {
  const runs = runsOf(history);
  const late = lateRuns(history);
  const doubled: string[] = [];
  for (const { job, result } of observed(history, 'job'))
    for (const [at, nonce] of result.nonces.entries()) {
      const place = placeOf({ job, step: at + 1 });
      const all = runs.get(place) ?? [];
      const recorded = all.findIndex((run) => run.nonce === nonce);
      if (recorded === -1 || all.slice(recorded + 1).some((run) => !late.has(run))) doubled.push(place);
    }
  return { doubled };
}

/**
 * The runs that a process had decided to begin when it was paused: those of its first turn afterwards. No lease can prevent them,
 * which is why steps have idempotency keys; their results are refused.
 */
function lateRuns({ effects }: History): Set<Effect> {
  const late = new Set<Effect>();
  const turns = new Map<number, number | 'next'>();
  for (const effect of effects) {
    const { pid } = effect;
    if (effect.kind === 'resumed') turns.set(pid, 'next');
    else if (effect.kind !== 'struck') {
      if (turns.get(pid) === 'next') turns.set(pid, effect.turn);
      if (turns.get(pid) === effect.turn) late.add(effect);
    }
  }
  return late;
}

// A payment happens once for each key of each caller, whatever the client repeats.
function verifyPayments(history: History): string[] {
  const nonces = new Map<string, string[]>();
  for (const effect of history.effects) {
    if (effect.kind !== 'payment') continue;
    const place = `payment ${effect.payment} of ${effect.caller}`;
    nonces.set(place, [...(nonces.get(place) ?? []), effect.nonce]);
  }
  const doubled = [...nonces].filter(([, all]) => all.length > 1).map(([place]) => place);
  for (const { payment, caller, result } of observed(history, 'payment')) {
    const place = `payment ${payment} of ${caller}`;
    if (nonces.get(place)?.[0] !== result.nonce) doubled.push(place);
  }
  return [...new Set(doubled)];
}

function verifyKeys(history: History): string[] {
  const rekeyed: string[] = [];
  const owners = new Map<string, string>();
  for (const [place, all] of runsOf(history))
    for (const { key } of all) {
      const owner = owners.get(key) ?? place;
      owners.set(key, owner);
      if (key !== all[0]?.key) rekeyed.push(place);
      if (owner !== place) rekeyed.push(`${place} has the key of ${owner}`);
    }
  return [...new Set(rekeyed)];
}

function verifyRows(history: History): { lost: string[]; doubled: string[] } {
  const lost: string[] = [];
  const doubled: string[] = [];
  if (history.rows === undefined) return { lost, doubled };
  const nonces = new Map<string, string[]>();
  for (const row of history.rows) {
    const place = placeOf(row);
    nonces.set(place, [...(nonces.get(place) ?? []), row.nonce]);
  }
  for (const [place, all] of nonces) if (all.length > 1) doubled.push(`row of ${place}`);
  for (const { job, result } of observed(history, 'job'))
    for (const [at, nonce] of result.nonces.entries()) {
      const place = placeOf({ job, step: at + 1 });
      if (!nonces.get(place)?.includes(nonce)) lost.push(`row of ${place}`);
    }
  return { lost, doubled };
}

function verifyStreams(history: History): { unheard: string[]; repeated: string[] } {
  const unheard: string[] = [];
  const repeated: string[] = [];
  for (const { call, progress, total, hasResult } of observed(history, 'stream')) {
    const place = `stream of ${call}: ${progress.join(' ')}`;
    if (progress.some((value, at) => value <= (progress[at - 1] ?? 0))) repeated.push(place);
    // A call that failed may have reported less. But whatever it reported has no holes.
    const last = hasResult ? total : Math.max(0, ...progress);
    if (new Set(progress).size < last) unheard.push(place);
  }
  return { unheard, repeated };
}

// A topic changes again only when all subscribers know its version, or after a long time.
function verifyChanges(history: History): string[] {
  const unheard: string[] = [];
  const topics = new Map<string, { version: number; readonly known: Map<string, number> }>();
  for (const each of history.observations) {
    if (each.saw !== 'subscribed' && each.saw !== 'announced' && each.saw !== 'read') continue;
    const { topic } = each;
    const state = topics.get(topic) ?? { version: 0, known: new Map<string, number>() };
    topics.set(topic, state);
    // A subscriber need not know the changes before its subscription.
    if (each.saw === 'subscribed') state.known.set(each.client, Math.max(state.version, 0));
    else if (each.saw === 'read')
      state.known.set(each.client, Math.max(each.version, state.known.get(each.client) ?? 0));
    else {
      check(topic, state);
      state.version = each.version;
    }
  }
  for (const [topic, state] of topics) check(topic, state);
  return unheard;

  function check(topic: string, { version, known }: { version: number; known: Map<string, number> }): void {
    for (const [client, seen] of known)
      if (seen < version) unheard.push(`${client} has ${topic} ${seen}, not ${version}`);
  }
}

function verifyOwners(history: History): Pick<Violations, 'mixed' | 'exposed'> {
  const mixed: string[] = [];
  const exposed: string[] = [];
  for (const effect of history.effects) {
    if (effect.kind !== 'answer') continue;
    const { question, answer, from, caller } = effect;
    if (answer !== question) mixed.push(`${question} was answered with ${answer}`);
    if (from !== caller) exposed.push(`${question} of ${caller} was answered by ${from}`);
  }
  for (const each of history.observations) {
    if (each.saw === 'question' && each.to !== each.caller)
      exposed.push(`${each.question} for ${each.to} was shown to ${each.caller}`);
    if (each.saw === 'intrusion' && each.succeeded) exposed.push(each.what);
    if (each.saw !== 'job' && each.saw !== 'payment' && each.saw !== 'result') continue;
    const id = each.saw === 'job' ? each.job : each.saw === 'payment' ? each.payment : each.call;
    if (each.result.id !== id) mixed.push(`${id} has the result of ${each.result.id}`);
    if (each.result.caller !== each.caller)
      exposed.push(`${id} of ${each.caller} has the result of ${each.result.caller}`);
  }
  return { mixed, exposed };
}
