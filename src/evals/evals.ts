// `evals`: a server and the cases that a model should understand it by.

import { type EvalCase, readCases } from './cases/case.js';
import { modelTarget } from './model/target.js';
import type { EvalReport } from './report/report.js';
import { type EvalRunOptions, type EvalsOptions, readEvalsOptions } from './run/options.js';
import type { EvalSource } from './run/server.js';

/** A server with its cases: the default export of a file for `fullmcp eval`. */
export interface Evals {
  /** The names of the cases, in order. */
  readonly names: readonly string[];
  /**
   * Runs the cases: from tapes, without any request to a model, or with the models themselves (`record`). Rejects for mistakes in the
   * options and for tapes that cannot be read; everything else is in the report.
   */
  readonly run: (options: EvalRunOptions) => Promise<EvalReport>;
}

/**
 * Describes how models should use a server: cases with the request of a user, the calls that are expected, and the answers to questions. Run
 * them with `fullmcp eval`, or in a test.
 * @example
 * ```ts
 * export default evals(server, [
 *   { ask: 'Bill Ada 30 euros', expect: call('create_invoice', { amount: 30 }), not: ['create_quote'] },
 *   { ask: 'What did we bill last week?', expect: call('list_invoices'), answer: /1,240/ },
 * ]);
 * ```
 */
export function evals(source: EvalSource, cases: readonly EvalCase[], options: EvalsOptions = {}): Evals {
  if (source === undefined || source === null)
    throw new TypeError('evals needs a server, or a function that makes one: evals(server, [{ ask: "…" }]).');
  const read = readEvalsOptions(options);
  for (const model of [...(read.models ?? []), ...(read.judge === undefined ? [] : [read.judge])])
    modelTarget(model);
  const suite = { source, cases: readCases(cases), options: read };
  return {
    names: suite.cases.map(({ name }) => name),
    run: async (run) => (await import('./run/run-evals.js')).runSuite(suite, run),
  };
}
