// The option `code` of a server: programs of models that call its tools.

import type { CodeEngine } from './code-engine.js';
import type { ToolUse } from './policy.js';
import type { Awaitable } from './tool-handler.js';

/** The option `code` of a server. */
export interface CodeOptions {
  /** The engine that runs the programs: `quickjs()` of `fullmcp/code`. */
  readonly engine: CodeEngine;
  /** The number of calls that one program may make. Default: 200. */
  readonly maxCalls?: number;
  /**
   * The calls that a person has to approve, before any of them is made, in one question: `destructive`, those of tools that may delete or
   * overwrite; `all`, those of tools that are not read-only; or those for which a function returns true. Default: none.
   */
  readonly approve?: 'destructive' | 'all' | ((use: ToolUse) => Awaitable<boolean>);
}

/** The table of `CodeOptions`. */
export const codeTable = {
  engine: { is: 'object', required: true },
  maxCalls: { is: 'count', max: 10_000 },
  approve: { is: 'function', oneOf: ['destructive', 'all'] },
} as const;
