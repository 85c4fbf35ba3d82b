// Two reports of the same cases: did a change make it worse?

import { isObject } from '../../jsonrpc/message.js';
import type { CaseReport, EvalReport, ModelReport } from './report.js';
import { type PairedVerdict, pairedDifference } from './statistics.js';

/** The difference that a change made with one model. */
export interface ModelComparison {
  /** The name of the model. */
  readonly name: string;
  /** The number of cases that both reports have. */
  readonly cases: number;
  /** The difference of the mean shares of runs that passed. */
  readonly difference: number;
  /** The lower end of its interval of 95 %. */
  readonly low: number;
  /** The upper end of its interval of 95 %. */
  readonly high: number;
  /** Whether chance explains the difference. */
  readonly verdict: PairedVerdict;
  /** The cases that pass less often. */
  readonly worse: readonly string[];
  /** The cases that pass more often. */
  readonly better: readonly string[];
  /** The tokens of the model per run, before and after. */
  readonly tokensPerRun: readonly [before: number, after: number];
}

/** Compares two reports, model by model. With several models, each needs a clearer difference. */
export function compareReports(before: EvalReport, after: EvalReport): readonly ModelComparison[] {
  const pairs = after.models.flatMap((model) => {
    const old = before.models.find(({ name }) => name === model.name);
    return old === undefined ? [] : [[old, model] as const];
  });
  return pairs.map(([old, now]) => compareModel(old, now, pairs.length));
}

function compareModel(before: ModelReport, after: ModelReport, models: number): ModelComparison {
  const old = new Map(before.cases.map((one) => [one.name, one]));
  const pairs = after.cases.flatMap((now): [string, number, number][] => {
    const was = old.get(now.name);
    return was === undefined || was.of === 0 || now.of === 0 ? [] : [[now.name, shareOf(was), shareOf(now)]];
  });
  const [was, is] = [pairs.map(([, share]) => share), pairs.map(([, , share]) => share)];
  return {
    name: after.name,
    cases: pairs.length,
    ...pairedDifference(was, is, { models }),
    worse: pairs.filter(([, one, other]) => other < one).map(([name]) => name),
    better: pairs.filter(([, one, other]) => other > one).map(([name]) => name),
    tokensPerRun: [tokensPerRun(before), tokensPerRun(after)],
  };
}

function shareOf({ passed, of }: CaseReport): number {
  return passed / of;
}

function tokensPerRun({ cases, usage }: ModelReport): number {
  const runs = cases.reduce((sum, { of }) => sum + of, 0);
  return runs === 0 ? 0 : Math.round((usage.input + usage.output) / runs);
}

/** Whether a value is a report, as far as it is compared. */
export function isEvalReport(value: unknown): value is EvalReport {
  const models = isObject(value) ? value['models'] : undefined;
  return Array.isArray(models) && models.every(isModel);
}

function isModel(value: unknown): boolean {
  if (!isObject(value) || !isObject(value['usage']) || !Array.isArray(value['cases'])) return false;
  return value['cases'].every(
    (one) => isObject(one) && typeof one['passed'] === 'number' && typeof one['of'] === 'number',
  );
}
