// The cases of one model from its tape. No model is asked.

import { SEARCH_TOOL } from '../../protocol/model/search/search-tools.js';
import type { ReadCase } from '../cases/case.js';
import type { MadeCall } from '../cases/transcript.js';
import { type ModelTarget, modelTarget } from '../model/target.js';
import type { CaseOutcome, ModelOutcome } from '../report/report.js';
import { digestOf } from '../tape/digest.js';
import { type Freshness, freshnessOf, searchesOf } from '../tape/freshness.js';
import { LOOP, type TapedRun } from '../tape/tape.js';
import type { TapeFolder } from '../tape/tape-folder.js';
import { askedParts, systemOf } from './asked-parts.js';
import type { ReadEvalsOptions } from './options.js';
import { type EvalServer, type EvalSource, openServer } from './server.js';

/** The cases of a file, with everything that they need. */
export interface EvalSuite {
  readonly source: EvalSource;
  readonly cases: readonly ReadCase[];
  readonly options: ReadEvalsOptions;
}

export interface ReplayParts {
  readonly suite: EvalSuite;
  readonly folder: TapeFolder;
  readonly cases: readonly ReadCase[];
}

const ORDER: readonly Freshness['state'][] = ['fresh', 'touched', 'stale'];

/** Reads the tape of a model, and compares each recorded run with what would be asked today. */
export async function replayModel(
  target: ModelTarget,
  { suite, folder, cases }: ReplayParts,
): Promise<ModelOutcome> {
  const tape = await folder.read(target);
  const outcomes = await replayCases(cases, { target, suite, tape });
  const notes =
    tape !== undefined && tape.loop !== LOOP
      ? [
          'The tape was recorded by another version, whose conversations may differ. Record it again with --record --again.',
        ]
      : [];
  return { target, outcomes, notes };
}

interface TapeParts {
  readonly target: ModelTarget;
  readonly suite: EvalSuite;
  readonly tape: { readonly runs: readonly TapedRun[] } | undefined;
}

/** Cases from a tape, each with its state. Cases with the same tools share a connection: nothing is called but searches. */
export async function replayCases(
  cases: readonly ReadCase[],
  { target, suite, tape }: TapeParts,
): Promise<readonly CaseOutcome[]> {
  const open = new Map<string, Promise<EvalServer>>();
  const serverFor = (tools: ReadCase['tools']): Promise<EvalServer> => {
    const key = JSON.stringify(tools ?? null);
    const known =
      open.get(key) ?? openServer(suite.source, { api: target.api, tools, caller: suite.options.caller });
    open.set(key, known);
    return known;
  };
  const runs = new Map<string, TapedRun[]>();
  for (const run of tape?.runs ?? []) runs.set(run.case, [...(runs.get(run.case) ?? []), run]);
  try {
    const outcomes: CaseOutcome[] = [];
    for (const one of cases)
      outcomes.push(await replayCase(one, { target, suite, runs: runs.get(one.name) ?? [], serverFor }));
    return outcomes;
  } finally {
    const servers = await Promise.allSettled(open.values());
    for (const server of servers) if (server.status === 'fulfilled') await server.value.close();
  }
}

interface CaseParts {
  readonly target: ModelTarget;
  readonly suite: EvalSuite;
  readonly runs: readonly TapedRun[];
  readonly serverFor: (tools: ReadCase['tools']) => Promise<EvalServer>;
}

async function replayCase(
  one: ReadCase,
  { target, suite, runs, serverFor }: CaseParts,
): Promise<CaseOutcome> {
  if (runs.length === 0)
    return { case: one, runs, state: 'missing', because: ['the tape does not have the case'] };
  const { judge, system: own } = suite.options;
  let server: EvalServer;
  try {
    server = await serverFor(one.tools);
  } catch (error) {
    return { case: one, runs, state: 'failed', because: [(error as Error).message] };
  }
  const judgedBy = judge === undefined ? undefined : modelTarget(judge);
  const now = askedParts(one, { server, system: systemOf(server, own), target, judgedBy });
  const found = await searchAgain(server, runs);
  const all = runs.map((run) => freshnessOf(run, now, one, (call) => found.get(digestOf(call.args))));
  const worst = Math.max(...all.map(({ state }) => ORDER.indexOf(state)));
  const state = ORDER[worst] ?? 'stale';
  const because = all.flatMap((each) => (each.state === state ? each.because : []));
  return { case: one, runs, state, because: [...new Set(because)] };
}

/** The results of the searches of recorded runs as they are today, by the digest of their arguments. */
async function searchAgain(
  server: EvalServer,
  runs: readonly TapedRun[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const calls = new Map<string, MadeCall>();
  for (const call of runs.flatMap(searchesOf)) calls.set(digestOf(call.args), call);
  const found = new Map<string, string | undefined>();
  for (const [key, { args = {} }] of calls) {
    const call = { id: 'call_1', name: SEARCH_TOOL, args, written: JSON.stringify(args) };
    const { made } = await server.perform(call, new AbortController().signal);
    found.set(key, made.found);
  }
  return found;
}
