// Decides whether a caller may use a definition.

import type { Auth } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import { insufficientScope } from '../../protocol/insufficient-scope.js';
import type { Allow } from '../define/access.js';
import type { Logger } from '../state/log.js';
import type { CompiledAccess } from './access.js';
import { AllowFailures } from './allow-failures.js';

/**
 * The decision of all rules: the caller may use the definition, it does not exist for the caller, the caller lacks scopes, or the policy
 * denies the input.
 */
export type Verdict = 'allowed' | 'unknown' | 'needs_scopes' | 'denied';

/** Whether no rule applies to a caller, except for a policy: it is local, and does not act for somebody else. */
export function isTrusted({ isLocal, auth }: Caller): boolean {
  return isLocal === true && auth === undefined;
}

/** The scopes that a caller lacks. */
function missingScopes(auth: Auth | undefined, scopes: readonly string[]): readonly string[] {
  return auth === undefined ? scopes : scopes.filter((scope) => !auth.scopes.includes(scope));
}

/** The error for a caller that lacks some of these scopes. An anonymous caller has to log in first. */
export function scopesError({ auth }: Caller, scopes: readonly string[]): McpError {
  if (auth !== undefined) return insufficientScope(missingScopes(auth, scopes));
  const message = `This needs a caller that is logged in, with ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(' ')}.`;
  return new McpError('unauthorized', message, { data: { scopes }, challenge: { scopes } });
}

/** Decides for the callers of a server. Decisions are made anew for each call: `allow` may decide differently each time. */
export class Gate {
  readonly #failures: AllowFailures;

  constructor(log: Logger) {
    this.#failures = new AllowFailures(log);
  }

  /** Whether scopes alone decide, and the caller has them. Then the input need not be judged either. */
  admits(caller: Caller, { scopes, allow, policy }: CompiledAccess): boolean {
    if (policy !== undefined) return false;
    return isTrusted(caller) || (allow.length === 0 && hasScopes(caller.auth, scopes));
  }

  /** Judges a caller, with the checked input if there is one. Synchronous if every `allow` is. */
  judge(caller: Caller, access: CompiledAccess, input?: unknown): Verdict | Promise<Verdict> {
    const verdict = isTrusted(caller) ? 'allowed' : this.#judgeFrom(0, caller.auth, access, input);
    if (access.policy === undefined) return verdict;
    return verdict instanceof Promise
      ? verdict.then((first) => judgeByPolicy(first, caller, access, input))
      : judgeByPolicy(verdict, caller, access, input);
  }

  /** Judges the use of a definition whose input is known: as in lists, and then with the input. */
  judgeUse(caller: Caller, access: CompiledAccess, input: unknown): Verdict | Promise<Verdict> {
    const verdict = this.judge(caller, access);
    const next = (first: Verdict): Verdict | Promise<Verdict> =>
      first === 'allowed' && access.allow.length > 0 ? this.judge(caller, access, input) : first;
    return verdict instanceof Promise ? verdict.then(next) : next(verdict);
  }

  /** Whether a caller sees the definition in lists. */
  sees(caller: Caller, access: CompiledAccess): boolean | Promise<boolean> {
    const verdict = this.judge(caller, access);
    return verdict instanceof Promise ? verdict.then(isAllowed) : isAllowed(verdict);
  }

  // `allow` decides before scopes do: a caller that it refuses must not learn from a challenge that the definition exists.
  #judgeFrom(
    first: number,
    auth: Auth | undefined,
    access: CompiledAccess,
    input: unknown,
  ): Verdict | Promise<Verdict> {
    const { allow, scopes } = access;
    for (let at = first; at < allow.length; at++) {
      const answer = this.#ask(allow[at] as Allow, auth, access, input);
      if (answer instanceof Promise)
        return answer.then((isAllowedByIt) =>
          isAllowedByIt ? this.#judgeFrom(at + 1, auth, access, input) : 'unknown',
        );
      if (!answer) return 'unknown';
    }
    return hasScopes(auth, scopes) ? 'allowed' : 'needs_scopes';
  }

  #ask(
    allow: Allow,
    auth: Auth | undefined,
    access: CompiledAccess,
    input: unknown,
  ): boolean | Promise<boolean> {
    const { target } = access;
    try {
      const answer: unknown = allow(auth, input, target);
      if (typeof answer === 'boolean') return answer;
      return Promise.resolve(answer).then(
        (value) => value === true || (value !== false && this.#failures.notBoolean(target, value)),
        (error: unknown) => this.#failures.threw(target, error),
      );
    } catch (error) {
      return this.#failures.threw(target, error);
    }
  }
}

// Like `allow`, the policy decides before scopes do.
function judgeByPolicy(
  verdict: Verdict,
  caller: Caller,
  { policy }: CompiledAccess,
  input: unknown,
): Verdict | Promise<Verdict> {
  if (policy === undefined || verdict === 'unknown') return verdict;
  const apply = (isAdmitted: boolean): Verdict =>
    isAdmitted ? verdict : input === undefined ? 'unknown' : 'denied';
  const answer = policy.admits(caller, input);
  return answer instanceof Promise ? answer.then(apply) : apply(answer);
}

function hasScopes(auth: Auth | undefined, scopes: readonly string[]): boolean {
  return auth === undefined ? scopes.length === 0 : scopes.every((scope) => auth.scopes.includes(scope));
}

function isAllowed(verdict: Verdict): boolean {
  return verdict === 'allowed';
}
