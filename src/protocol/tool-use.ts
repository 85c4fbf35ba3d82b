// The use of a tool, as rules about uses see it.

import type { Auth } from './call.js';

/** A tool, as a rule sees it. Hints that the tool does not give have the defaults of the protocol. */
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

/** The use of a tool that a rule decides about. */
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
