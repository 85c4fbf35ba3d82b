// The option `code` of a server or a gateway: programs of models that call its tools.

import type { ToolUse } from '../tool-use.js';
import type { CodeEngine } from './code-engine.js';

/** The name of the tool that runs programs. */
export const CODE_TOOL = 'run_code';

/** The option `code` of a server or a gateway. */
export interface CodeOptions {
  /** The engine that runs the programs: `quickjs()` of `fullmcp/code`. */
  readonly engine: CodeEngine;
  /** The number of calls that one program may make. Default: 200. */
  readonly maxCalls?: number;
  /**
   * The calls that a person has to approve, before any of them is made, in one question: `destructive`, those of tools that may delete or
   * overwrite; `all`, those of tools that are not read-only; or those for which a function returns true. Default: none.
   */
  readonly approve?: 'destructive' | 'all' | ((use: ToolUse) => boolean | Promise<boolean>);
}

/** The table of `CodeOptions`. */
export const codeTable = {
  engine: { is: 'object', required: true },
  maxCalls: { is: 'count', max: 10_000 },
  approve: { is: 'function', oneOf: ['destructive', 'all'] },
} as const;
