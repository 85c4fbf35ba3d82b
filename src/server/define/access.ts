// The rules that decide which callers see and use a definition.

import type { Auth } from '../../protocol/call.js';
import type { Policy } from './policy.js';
import type { Awaitable } from './tool-handler.js';

/** The definition that a rule decides about. */
export interface AccessTarget {
  /** The kind of the definition. A template is a resource. */
  readonly kind: 'tool' | 'resource' | 'prompt' | 'method' | 'event';
  /** The name of the tool, prompt, method or type of events; the URI, or the template, of the resource. */
  readonly name: string;
}

/**
 * Decides whether a caller may use a definition. Called without `input` for lists, for completions and before the input of a call is
 * checked; called again with the checked input. For the caller that it refuses, the definition does not exist. An error is logged and
 * refuses, and so does any value but `true`.
 */
export type Allow<Input = unknown> = (
  /** The caller; undefined for an anonymous one. */
  auth: Auth | undefined,
  /**
   * The arguments of the tool, of the prompt or of the subscription to events, the variables of the template, or the params of the
   * method, as its handler gets them.
   */
  input: Input | undefined,
  /** The definition, for a rule of several definitions. */
  target: AccessTarget,
) => Awaitable<boolean>;

/** A rule: all its parts must hold. Local callers (stdio, in-process) without `auth` are trusted, and no rule applies to them. */
export interface AccessRule<Input = unknown> {
  /**
   * The scopes that a caller must have. Without them, the definition is not listed, and a call is refused with the challenge
   * `insufficient_scope`, so that the client can ask its user for them. Default: none.
   */
  readonly scopes?: readonly string[];
  /** Decides whether a caller may use the definition. Called for lists without input. Default: every caller may. */
  readonly allow?: Allow<Input>;
}

/** The rules of a server, in addition to those of its definitions. All rules that apply to a definition must hold. */
export interface AccessOptions extends AccessRule {
  /** The rules for the definitions that have a tag, by tag. */
  readonly tags?: Readonly<Record<string, AccessRule>>;
  /**
   * The policy for the tools: `access: policy({ … })`, with `policy` from `fullmcp/middleware`. It applies to local callers, too.
   * Default: none.
   */
  readonly policy?: Policy;
}
