// Runs evals: every case with every model, from tapes, or with the models themselves.

import process from 'node:process';
import { withDeadline } from '../../async/deadline.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { toolTokens } from '../../tooling/lint/tokens.js';
import type { ReadCase } from '../cases/case.js';
import { keyOf, type ModelTarget, modelTarget } from '../model/target.js';
import {
  caseReport,
  type EvalReport,
  type ModelOutcome,
  type ModelReport,
  modelReport,
  type OfferedReport,
} from '../report/report.js';
import { TapeFolder } from '../tape/tape-folder.js';
import { Budget, BudgetError } from './budget.js';
import { type EvalRunOptions, readRunOptions } from './options.js';
import { planRecording, recordModel } from './record.js';
import { type EvalSuite, replayModel } from './replay.js';
import { openServer } from './server.js';

/** Runs a suite. Rejects for mistakes in the options and tapes that cannot be read; everything else is in the report. */
export async function runSuite(suite: EvalSuite, options: EvalRunOptions): Promise<EvalReport> {
  const { record, dry, only, strict, tapes: path, signal, ...run } = readRunOptions(options);
  const folder = new TapeFolder(path);
  const cases = selected(suite.cases, only);
  const targets = await targetsOf(suite, { folder, record: record || dry, names: run.models });
  const limits = { ...suite.options.budget, ...run.budget };
  if ((record || dry) && limits.cost !== undefined) checkPrices(targets, suite);
  // First of all: a server that cannot be started must cost nothing.
  const tools = await offeredTools(suite);
  const budget = new Budget(limits);
  const env = run.env ?? process.env;
  const parts = { suite, folder, cases, budget, env, again: run.again, runs: run.runs };
  if (dry) {
    const planned = await Promise.all(targets.map((target) => planRecording(target, parts)));
    const models = await Promise.all(planned.map(({ outcome }) => reportOf(outcome, { isStrict: strict })));
    const plan = planned.map((one) => one.plan);
    return { ok: true, mode: 'planned', models, tools, spent: budget.spent, plan };
  }
  const work = async (until: AbortSignal): Promise<readonly ModelOutcome[]> => {
    if (!record) return Promise.all(targets.map((target) => replayModel(target, parts)));
    // Keys are read before anything is sent, so that a missing one costs nothing.
    const keys = new Map(targets.map((target) => [target, keyOf(target, env)]));
    const total = { done: 0, of: 0 };
    return Promise.all(
      targets.map((target) =>
        recordModel(target, {
          ...parts,
          key: keys.get(target) ?? '',
          signal: until,
          total,
          onProgress: run.onProgress,
        }),
      ),
    );
  };
  const outer = signal ?? new AbortController().signal;
  const { ms } = limits;
  const done =
    ms === undefined
      ? await work(outer)
      : await withDeadline(
          { ms, signal: outer, reason: () => new BudgetError(`The time of ${ms} ms is over.`) },
          work,
        );
  const models = await Promise.all(done.map((one) => reportOf(one, { isStrict: strict })));
  const ok = models.length > 0 && models.every((model) => model.cases.every((one) => one.ok));
  return { ok, mode: record ? 'recorded' : 'replayed', models, tools, spent: budget.spent };
}

async function reportOf(
  { target, outcomes, notes }: ModelOutcome,
  options: { readonly isStrict: boolean },
): Promise<ModelReport> {
  const cases = await Promise.all(outcomes.map((outcome) => caseReport(outcome, options)));
  return modelReport(target, { cases, outcomes, notes });
}

function selected(cases: readonly ReadCase[], only: readonly string[] | undefined): readonly ReadCase[] {
  if (only === undefined || only.length === 0) return cases;
  const names = cases.map(({ name }) => name);
  for (const name of only) {
    if (names.includes(name)) continue;
    const close = closestName(name, names);
    throw new TypeError(
      `No case is called ${JSON.stringify(name)}.${close ? ` Did you mean ${JSON.stringify(close)}?` : ''}`,
    );
  }
  return cases.filter(({ name }) => only.includes(name));
}

interface Targeting {
  readonly folder: TapeFolder;
  readonly record: boolean;
  readonly names: readonly string[] | undefined;
}

/** The models to report about: those that were named, or those of the options, or those that have a tape. */
async function targetsOf(
  { options: { models = [] } }: EvalSuite,
  { folder, record, names = [] }: Targeting,
): Promise<readonly ModelTarget[]> {
  const known = models.map(modelTarget);
  const taped = record || known.length > 0 ? [] : await folder.targets();
  const all = [...known, ...taped];
  const wanted =
    names.length === 0 ? all : names.map((name) => all.find((one) => one.name === name) ?? modelTarget(name));
  if (wanted.length === 0)
    throw new TypeError(
      record
        ? 'No model is named. Add "models" to the options of evals, or name one with --model anthropic:<model>.'
        : `There is no tape in ${folder.path}. Record one with: fullmcp eval --record --model anthropic:<model>`,
    );
  const twice = wanted.find(({ name }, at) => wanted.findIndex((one) => one.name === name) !== at);
  if (twice !== undefined)
    throw new TypeError(
      `Two models are called ${JSON.stringify(twice.name)}. Give one of them another "name".`,
    );
  return wanted;
}

function checkPrices(targets: readonly ModelTarget[], { options: { judge } }: EvalSuite): void {
  const all = [...targets, ...(judge === undefined ? [] : [modelTarget(judge)])];
  const free = all.find(({ price }) => price === undefined);
  if (free !== undefined)
    throw new TypeError(
      `A budget of money needs the prices of ${free.name}: price: { input, output } per million tokens.`,
    );
}

async function offeredTools({ source, options: { caller } }: EvalSuite): Promise<readonly OfferedReport[]> {
  const server = await openServer(source, { api: 'anthropic', caller });
  try {
    return server.listed.map((tool) => ({
      name: tool.name,
      description: tool.description ?? tool.title ?? '',
      tokens: toolTokens({ ...tool }),
    }));
  } finally {
    await server.close();
  }
}
