// Reports the failures of `allow`, and of a policy, to the operator.

import type { AccessTarget } from '../define/access.js';
import type { Logger } from '../state/log.js';

/** A list calls `allow` for each of its entries, so a failure is reported once in this time for each kind of definition. */
const QUIET_MS = 60_000;

/** Reports the failures of `allow`. Clients learn nothing of them. */
export class AllowFailures {
  readonly #log: Logger;
  readonly #subject: string;
  readonly #reportedAt = new Map<AccessTarget['kind'], number>();

  constructor(log: Logger, subject = '"allow"') {
    this.#log = log;
    this.#subject = subject;
  }

  /** Reports an error. Returns false: the caller is refused. */
  threw(target: AccessTarget, error: unknown): false {
    return this.#report(target, 'failed, so the caller was refused', error);
  }

  /** Reports a value that is not a boolean. Returns false: the caller is refused. */
  notBoolean(target: AccessTarget, value: unknown): false {
    return this.#report(
      target,
      `returned a value of type ${value === null ? 'null' : typeof value}, so the caller was refused. Return true or false`,
    );
  }

  #report({ kind, name }: AccessTarget, problem: string, error?: unknown): false {
    const now = performance.now();
    const last = this.#reportedAt.get(kind);
    if (last !== undefined && now - last < QUIET_MS) return false;
    this.#reportedAt.set(kind, now);
    this.#log('error', `${this.#subject} of the ${kind} "${name}" ${problem}.`, error);
    return false;
  }
}
