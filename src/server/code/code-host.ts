// The server that programs call.

import type { Dispatch } from '../../protocol/call.js';
import type { CodeEngine, CodeRealms } from '../../protocol/code/code-engine.js';
import type { ApprovalParts } from './approvals.js';

/** The engine of a server, and its limit for programs. */
export interface CodeSettings {
  readonly engine: Pick<CodeEngine, 'id'>;
  readonly maxCalls: number;
}

/** The server that the programs call. */
export interface CodeHost {
  readonly settings: CodeSettings;
  /** Answers the calls of programs as those of clients: with all middleware and all rules. */
  readonly dispatch: Dispatch;
  /** The engine, which is opened with the first program. */
  readonly realms: () => Promise<CodeRealms>;
  /** The rule for calls that a person has to approve; undefined if there is none. */
  readonly approval: ApprovalParts | undefined;
  /** Whether the server has the option `user`. */
  readonly hasUser: boolean;
  /** The tools that stand for others, which programs cannot call. */
  readonly isFront: (name: string) => boolean;
}
