// The option `code` of a server: programs of models that call its tools.

import type { CodeEngine } from './code-engine.js';

/** The option `code` of a server. */
export interface CodeOptions {
  /** The engine that runs the programs: `quickjs()` of `fullmcp/code`. */
  readonly engine: CodeEngine;
  /** The number of calls that one program may make. Default: 200. */
  readonly maxCalls?: number;
}

/** The table of `CodeOptions`. */
export const codeTable = {
  engine: { is: 'object', required: true },
  maxCalls: { is: 'count', max: 10_000 },
} as const;
