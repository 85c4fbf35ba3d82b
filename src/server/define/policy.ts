// The seam between a server and the policy for its tools.

import type { Auth, Call } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import type { CallContext } from '../context/call-context.js';
import type { Awaitable } from './tool-handler.js';

/** A tool, as a policy sees it. Hints that the tool does not give have the defaults of the protocol. */
export interface PolicyTool {
  /** The name of the tool. */
  readonly name: string;
  /** The tags of the tool. */
  readonly tags: readonly string[];
  /** The tool changes nothing. Default: false. */
  readonly readOnly: boolean;
  /** The tool may delete or overwrite something. Default: true, unless the tool is `readOnly`. */
  readonly destructive: boolean;
  /** Calling the tool again with the same arguments changes nothing more. Default: false, unless the tool is `readOnly`. */
  readonly idempotent: boolean;
  /** The tool reaches things outside the server's own domain. Default: true. */
  readonly openWorld: boolean;
}

/** The use of a tool that a policy decides about. */
export interface ToolUse {
  /** The tool. */
  readonly tool: PolicyTool;
  /** The caller; undefined for an anonymous or local one. */
  readonly auth: Auth | undefined;
  /** Whether the caller is the program that the server runs in or that has started it (stdio), and acts for nobody else. */
  readonly isLocal: boolean;
  /** The arguments as the handler gets them; undefined if the decision is about the tool itself, as for lists. */
  readonly input: unknown;
}

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
