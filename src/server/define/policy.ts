// The seam between a server and the policy for its tools.

import type { Call } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import type { PolicyTool } from '../../protocol/tool-use.js';
import type { CallContext } from '../context/call-context.js';
import type { Awaitable } from './tool-handler.js';

/** The decision about the use of a tool. `approve`: a person has to approve it first. */
export type PolicyEffect = 'allow' | 'deny' | 'approve';

/** A policy for the tools of a server. `policy` of `fullmcp/middleware` makes it. */
export interface Policy {
  /** The policy for one tool. `onFailure` is called with each error of the policy, which denies. */
  readonly forTool: (tool: PolicyTool, onFailure: (error: unknown) => void) => ToolPolicy;
  /** The mistakes in the policy, one sentence each, given the tools of the server. */
  readonly problems: (tools: readonly PolicyTool[]) => readonly string[];
}

/** The policy for one tool. It applies to every caller, and each run of the tool passes it. */
export interface ToolPolicy {
  /** The tool. */
  readonly tool: PolicyTool;
  /**
   * Whether a caller may use the tool with this input, perhaps after an approval. Without input, false means that the caller may not use
   * the tool whatever the arguments: the tool does not exist for the caller.
   */
  readonly admits: (caller: Caller, input: unknown) => Awaitable<boolean>;
  /** Whether a caller may use the tool with this input, without an approval. */
  readonly allows: (caller: Caller, input: unknown) => Awaitable<boolean>;
  /** The reason why a call may not run; undefined if the policy allows it, or a person has approved this very call. */
  readonly refusal: (
    input: unknown,
    ctx: Pick<CallContext<never, never>, 'askForApproval'>,
    call: Call,
  ) => Promise<string | undefined>;
  /** The message for arguments that the policy denies. The caller sees the tool, so the message may name it. */
  readonly denial: string;
}
