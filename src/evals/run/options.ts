// The options of evals, and of one run of them.

import type { AuthInit } from '../../protocol/caller.js';
import { type OptionTable, readOptions, type WithDefaults } from '../../protocol/checks/options.js';
import type { EvalModel } from '../model/target.js';
import type { EvalBudget } from './budget.js';

/** The options of `evals`. */
export interface EvalsOptions {
  /** The models to ask, such as `openai-chat:llama3@http://localhost:11434`, or with prices and limits. Default: those that have tapes. */
  readonly models?: readonly (string | EvalModel)[];
  /** The system prompt; the instructions of the server follow it. Default: one sentence about tools. */
  readonly system?: string;
  /** The number of runs of each case. Default: 3. */
  readonly runs?: number;
  /** The number of requests in one conversation, after which a model that still makes calls has failed. Default: 10. */
  readonly maxRounds?: number;
  /** The number of conversations at the same time. Default: 4. */
  readonly concurrency?: number;
  /** The limits of a whole run. Default: none. */
  readonly budget?: EvalBudget;
  /** The model that judges the cases with `judge`. Default: none. */
  readonly judge?: string | EvalModel;
  /** The caller, for a server in the same process that has rules of access. Default: anonymous. */
  readonly caller?: AuthInit;
}

/** The options of one run. */
export interface EvalRunOptions {
  /** The folder of the tapes, a file for each model. */
  readonly tapes: string;
  /** Asks the models about all cases that are not fresh, and records the answers. Default: false: no model is asked. */
  readonly record?: boolean;
  /** Plans a recording, and asks no model: `plan` of the report says what it would take. Default: false. */
  readonly dry?: boolean;
  /** Records fresh cases again as well. Default: false. */
  readonly again?: boolean;
  /** The names of the models, or models that the options do not have. Default: all of the options. */
  readonly models?: readonly string[];
  /** The names of cases. Default: all. */
  readonly only?: readonly string[];
  /** The number of runs of each case, in place of that of the options and the cases. */
  readonly runs?: number;
  /** Limits, in place of those of the options. */
  readonly budget?: EvalBudget;
  /** Whether a case that is touched is not ok. Default: false. */
  readonly strict?: boolean;
  /** The variables that have the keys. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ends the run: conversations that are not finished are skipped. */
  readonly signal?: AbortSignal;
  /** Called after each conversation. */
  readonly onProgress?: (progress: EvalProgress) => void;
}

/** The progress of a run. */
export interface EvalProgress {
  /** The number of conversations that have ended. */
  readonly done: number;
  /** The number of all conversations. */
  readonly of: number;
  /** The name of the case whose conversation has ended. */
  readonly case: string;
}

const budgetTable = {
  tokens: 'count',
  cost: 'number',
  ms: 'timer',
} as const satisfies OptionTable<EvalBudget>;

const evalsTable = {
  models: 'array',
  system: 'string',
  runs: { is: 'count', default: 3, max: 1000 },
  maxRounds: { is: 'count', default: 10, max: 100 },
  concurrency: { is: 'count', default: 4, max: 64 },
  budget: { is: 'object', options: budgetTable },
  judge: ['string', 'object'],
  caller: 'object',
} as const satisfies OptionTable<EvalsOptions>;

const runTable = {
  tapes: { is: 'string', required: true },
  record: { is: 'boolean', default: false },
  dry: { is: 'boolean', default: false },
  again: { is: 'boolean', default: false },
  models: 'strings',
  only: 'strings',
  runs: { is: 'count', max: 1000 },
  budget: { is: 'object', options: budgetTable },
  strict: { is: 'boolean', default: false },
  env: 'object',
  signal: 'any',
  onProgress: 'function',
} as const satisfies OptionTable<EvalRunOptions>;

/** The options of `evals`, with their defaults. */
export type ReadEvalsOptions = WithDefaults<EvalsOptions, 'runs' | 'maxRounds' | 'concurrency'>;

/** The options of a run, with their defaults. */
export type ReadRunOptions = WithDefaults<EvalRunOptions, 'record' | 'dry' | 'again' | 'strict'>;

/** Checks the options of `evals`. */
export function readEvalsOptions(options: EvalsOptions): ReadEvalsOptions {
  return readOptions('evals', options, evalsTable);
}

/** Checks the options of a run. */
export function readRunOptions(options: EvalRunOptions): ReadRunOptions {
  return readOptions('run', options, runTable);
}
