// The plan of a recording: what it would take, before a model is asked.

import { textTokens } from '../../tooling/lint/tokens.js';
import type { ReadCase } from '../cases/case.js';
import { costOf } from '../model/price.js';
import type { ModelTarget } from '../model/target.js';
import type { CaseOutcome, ModelPlan } from '../report/report.js';
import { systemOf } from './asked-parts.js';
import type { EvalSuite } from './replay.js';
import { openServer } from './server.js';

/** A case that would be recorded, with the number of its conversations. */
export interface PlannedCase {
  readonly case: CaseOutcome['case'];
  readonly runs: number;
}

/** Plans the conversations with a model. Servers are opened for their tools; nothing is called. */
export async function planModel(
  target: ModelTarget,
  { suite, wanted }: { readonly suite: EvalSuite; readonly wanted: readonly PlannedCase[] },
): Promise<ModelPlan> {
  const { maxRounds } = suite.options;
  const first = await firstTokens(target, { suite, wanted });
  const totals = { least: { requests: 0, input: 0, output: 0 }, most: { requests: 0, input: 0, output: 0 } };
  for (const { case: one, runs } of wanted) {
    const judged = one.judge === undefined ? 0 : 1;
    const tokens = first(one);
    totals.least.requests += runs * (1 + judged);
    totals.least.input += runs * tokens;
    totals.most.requests += runs * (maxRounds + judged);
    // Each request has all replies before it.
    totals.most.input += runs * (maxRounds * tokens + (target.maxTokens * maxRounds * (maxRounds - 1)) / 2);
    totals.most.output += runs * maxRounds * target.maxTokens;
  }
  const { least, most } = totals;
  const costs = [least, most].map(({ input, output }) => costOf({ input, cached: 0, output }, target.price));
  const [cheapest, dearest] = costs;
  return {
    name: target.name,
    conversations: wanted.reduce((sum, { runs }) => sum + runs, 0),
    requests: [least.requests, most.requests],
    tokens: [least.input + least.output, most.input + most.output],
    ...(cheapest !== undefined && dearest !== undefined && { cost: [cheapest, dearest] as const }),
  };
}

/** The estimated tokens of the first request of each case. Cases with the same tools share a connection. */
async function firstTokens(
  { api }: ModelTarget,
  { suite, wanted }: { readonly suite: EvalSuite; readonly wanted: readonly PlannedCase[] },
): Promise<(one: ReadCase) => number> {
  const { source, options } = suite;
  const known = new Map<string, number>();
  const keyOf = ({ tools }: ReadCase): string => JSON.stringify(tools ?? null);
  for (const { case: one } of wanted) {
    if (known.has(keyOf(one))) continue;
    const server = await openServer(source, { api, tools: one.tools, caller: options.caller });
    try {
      const parts = [systemOf(server, options.system), server.tools];
      known.set(keyOf(one), textTokens(JSON.stringify(parts)));
    } finally {
      await server.close();
    }
  }
  return (one) => (known.get(keyOf(one)) ?? 0) + textTokens(one.ask);
}
