// The entry `fullmcp/evals`: whether models understand the tools of a server.

export {
  type CallExpectationOptions,
  call,
  type EvalCase,
  type ExpectedArgs,
  type ExpectedToolCall,
} from './evals/cases/case.js';
export type { EvalProblem } from './evals/cases/expectations.js';
export type { MadeCall } from './evals/cases/transcript.js';
export { type Evals, evals } from './evals/evals.js';
export type { ModelPrice, Spent } from './evals/model/price.js';
export type { EvalModel } from './evals/model/target.js';
export type {
  CaseReport,
  CaseState,
  EvalReport,
  EvalRunReport,
  ModelPlan,
  ModelReport,
  OfferedReport,
} from './evals/report/report.js';
export type { EvalBudget } from './evals/run/budget.js';
export type { EvalProgress, EvalRunOptions, EvalsOptions } from './evals/run/options.js';
export type { EvalSource } from './evals/run/server.js';
