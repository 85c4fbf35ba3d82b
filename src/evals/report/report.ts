// The report of a run of evals: JSON, which the command prints, and which every other report is made of.

import type { ReadCase } from '../cases/case.js';
import type { EvalProblem } from '../cases/expectations.js';
import { problemsOf } from '../cases/expectations.js';
import { answerOf, callsOf, type MadeCall } from '../cases/transcript.js';
import type { ModelTokens } from '../model/model.js';
import { costOf, type Spent } from '../model/price.js';
import type { ModelTarget } from '../model/target.js';
import type { Freshness } from '../tape/freshness.js';
import type { TapedRun } from '../tape/tape.js';
import { overCases, type Share, wilson } from './statistics.js';

/** One run of a case. */
export interface EvalRunReport {
  /** The number of the run, from 1. */
  readonly run: number;
  /** Whether everything was as expected. */
  readonly passed: boolean;
  /** The mistakes. */
  readonly problems: readonly EvalProblem[];
  /** The calls that the model made, in order. */
  readonly calls: readonly MadeCall[];
  /** The last words of the model. */
  readonly answer: string;
  /** The requests to the model. */
  readonly requests: number;
  /** The tokens of all requests; undefined if the API did not say. */
  readonly usage?: ModelTokens;
  /** The time that the model took, in milliseconds. */
  readonly ms: number;
}

/**
 * The state of a case: `recorded` now, `fresh` on the tape, `touched` or `stale` on the tape because the request would differ today, `missing` on
 * the tape, `failed` because a model or the server did not answer, `skipped` because the budget was used up or the run was stopped.
 */
export type CaseState = 'recorded' | Freshness['state'] | 'missing' | 'failed' | 'skipped';

/** A case with one model. */
export interface CaseReport {
  /** The name of the case. */
  readonly name: string;
  /** The state of the case. */
  readonly state: CaseState;
  /** The reasons for the state: the parts that differ, or the failure. */
  readonly because: readonly string[];
  /** Whether enough runs have passed, and the state allows it. */
  readonly ok: boolean;
  /** The number of runs that passed. */
  readonly passed: number;
  /** The number of runs. */
  readonly of: number;
  /** The interval of 95 % for the share of runs that pass. */
  readonly interval: Share;
  /** The share that is needed. */
  readonly need: number;
  /** The tools that are expected. */
  readonly expected: readonly string[];
  /** The runs. */
  readonly runs: readonly EvalRunReport[];
}

/** All cases with one model. */
export interface ModelReport {
  /** The name of the model in the report. */
  readonly name: string;
  /** Its name in its API. */
  readonly model: string;
  /** The mean share of runs that passed, over all cases with runs, with its interval of 95 %. */
  readonly score: Share;
  /** The cases, in the order of the file. */
  readonly cases: readonly CaseReport[];
  /** The tokens of all runs in the report. */
  readonly usage: ModelTokens;
  /** The cost of these tokens; undefined without prices. */
  readonly cost?: number;
  /** The median of the times of requests, in milliseconds. */
  readonly medianMs: number;
  /** Anything to know about the model, in sentences. */
  readonly notes: readonly string[];
}

/** A tool that was offered. */
export interface OfferedReport {
  /** The name of the tool. */
  readonly name: string;
  /** The words of its name and description that can be confused with those of others. */
  readonly description: string;
  /** The estimated tokens of its definition in each request. */
  readonly tokens: number;
}

/** The report of a run. */
export interface EvalReport {
  /** Whether all cases are as needed with all models. */
  readonly ok: boolean;
  /** Whether the models were asked now, all answers come from tapes, or a recording was only planned. */
  readonly mode: 'recorded' | 'replayed' | 'planned';
  /** The models. */
  readonly models: readonly ModelReport[];
  /** The tools that the server lists. */
  readonly tools: readonly OfferedReport[];
  /** The tokens and the money that this run has used; nothing when it was replayed or planned. */
  readonly spent: Spent;
  /** The plan of a recording, for each model, if it was planned. */
  readonly plan?: readonly ModelPlan[];
}

/** The plan of a recording with a model: the least that it would take, and the most if every reply and every conversation is as long as possible. */
export interface ModelPlan {
  /** The name of the model. */
  readonly name: string;
  /** The number of conversations. */
  readonly conversations: number;
  /** The requests. */
  readonly requests: readonly [least: number, most: number];
  /** The estimated tokens, without those of results of tools, which nobody knows before. */
  readonly tokens: readonly [least: number, most: number];
  /** Their cost; undefined without prices. */
  readonly cost?: readonly [least: number, most: number];
}

/** A case with its recorded runs, or with the reason why there are none. */
export interface CaseOutcome {
  readonly case: ReadCase;
  readonly runs: readonly TapedRun[];
  readonly state: CaseState;
  readonly because: readonly string[];
}

/** A model with the outcomes of its cases. */
export interface ModelOutcome {
  readonly target: ModelTarget;
  readonly outcomes: readonly CaseOutcome[];
  readonly notes: readonly string[];
}

/** The report of a case. */
export async function caseReport(
  { case: one, runs, state, because }: CaseOutcome,
  { isStrict }: { readonly isStrict: boolean },
): Promise<CaseReport> {
  const reports = await Promise.all(runs.map((run) => runReport(one, run)));
  const passed = reports.filter((run) => run.passed).length;
  const { need = 1, calls = [] } = one;
  const isUsable = ['recorded', 'fresh', ...(isStrict ? [] : ['touched'])].includes(state);
  return {
    name: one.name,
    state,
    because,
    ok: isUsable && reports.length > 0 && passed / reports.length >= need,
    passed,
    of: reports.length,
    interval: wilson(passed, reports.length),
    need,
    expected: [...new Set(calls.map(({ tool }) => tool))],
    runs: reports,
  };
}

async function runReport(one: ReadCase, run: TapedRun): Promise<EvalRunReport> {
  const problems = await problemsOf(one, run);
  const usages = run.rounds.map(({ usage }) => usage);
  const known = usages.filter((usage) => usage !== undefined);
  return {
    run: run.run,
    passed: problems.length === 0,
    problems,
    calls: callsOf(run),
    answer: answerOf(run),
    requests: run.rounds.length,
    ...(known.length === usages.length && { usage: sum(known) }),
    ms: run.rounds.reduce((total, { ms }) => total + ms, 0),
  };
}

/** The report of a model. */
export function modelReport(
  { name, model, price }: Pick<ModelTarget, 'name' | 'model' | 'price'>,
  {
    cases,
    outcomes,
    notes,
  }: {
    readonly cases: readonly CaseReport[];
    readonly outcomes: readonly CaseOutcome[];
    readonly notes: readonly string[];
  },
): ModelReport {
  const rounds = outcomes.flatMap(({ runs }) => runs).flatMap((run) => run.rounds);
  const usage = sum(rounds.flatMap((round) => (round.usage ? [round.usage] : [])));
  const cost = costOf(usage, price);
  const times = rounds.map(({ ms }) => ms).sort((one, other) => one - other);
  return {
    ...{ name, model, cases, usage, notes },
    score: overCases(cases.filter(({ of }) => of > 0).map(({ passed, of }) => passed / of)),
    ...(cost !== undefined && { cost }),
    medianMs: times[Math.floor(times.length / 2)] ?? 0,
  };
}

function sum(usages: readonly ModelTokens[]): ModelTokens {
  const total = (name: keyof ModelTokens): number => usages.reduce((all, usage) => all + usage[name], 0);
  return { input: total('input'), cached: total('cached'), output: total('output') };
}
