// Counts the tasks and bytes of each caller.

import { McpError } from '../../protocol/errors.js';

/** The room that one task takes in the store. */
interface TaskUse {
  readonly bytes: number;
  readonly isFinished: boolean;
  readonly expiresAt: number;
}

/** The tasks of one caller. */
interface Account {
  readonly tasks: Map<string, TaskUse>;
  unfinished: number;
  bytes: number;
  /** The number of tasks at which expired ones are removed. */
  sweepAt: number;
}

/** The limits for each caller. */
export interface CallerQuotaLimits {
  readonly maxTasksPerCaller: number;
  readonly maxBytesPerCaller: number;
}

const FIRST_SWEEP = 256;

/**
 * The tasks and bytes that each caller has in the store, so that one caller cannot use all of it. Anonymous callers cannot be
 * distinguished, and are not counted.
 */
export class CallerQuota {
  readonly #limits: CallerQuotaLimits;
  readonly #accounts = new Map<string, Account>();

  constructor(limits: CallerQuotaLimits) {
    this.#limits = limits;
  }

  /** Counts a task, or counts it anew after a change. */
  hold(principal: string, id: string, use: TaskUse): void {
    if (principal === '') return;
    const account = this.#accounts.get(principal) ?? newAccount();
    this.#accounts.set(principal, account);
    remove(account, id);
    account.tasks.set(id, use);
    account.bytes += use.bytes;
    if (!use.isFinished) account.unfinished++;
    if (account.tasks.size >= account.sweepAt) sweep(account);
  }

  /** Stops counting a task. */
  release(principal: string, id: string): void {
    const account = this.#accounts.get(principal);
    if (account === undefined) return;
    remove(account, id);
    if (account.tasks.size === 0) this.#accounts.delete(principal);
  }

  /** Throws if a caller has reached a limit. */
  check(principal: string, { isNewTask }: { readonly isNewTask: boolean }): void {
    const account = this.#accounts.get(principal);
    if (account === undefined) return;
    const { maxTasksPerCaller, maxBytesPerCaller } = this.#limits;
    if (account.bytes >= maxBytesPerCaller) sweep(account);
    if (isNewTask && account.unfinished >= maxTasksPerCaller) {
      throw new McpError(
        'overloaded',
        `You have ${account.unfinished} unfinished tasks; the limit is ${maxTasksPerCaller}. Wait for one to end, or cancel one.`,
      );
    }
    if (account.bytes >= maxBytesPerCaller) {
      throw new McpError(
        'overloaded',
        `Your tasks have ${account.bytes} bytes in the store; the limit is ${maxBytesPerCaller}. Try again when some have expired.`,
      );
    }
  }
}

function newAccount(): Account {
  return { tasks: new Map(), unfinished: 0, bytes: 0, sweepAt: FIRST_SWEEP };
}

function remove(account: Account, id: string): void {
  const use = account.tasks.get(id);
  if (use === undefined) return;
  account.tasks.delete(id);
  account.bytes -= use.bytes;
  if (!use.isFinished) account.unfinished--;
}

// Unfinished tasks are released by the process that runs them.
function sweep(account: Account): void {
  const now = Date.now();
  for (const [id, { isFinished, expiresAt }] of account.tasks)
    if (isFinished && expiresAt <= now) remove(account, id);
  account.sweepAt = Math.max(FIRST_SWEEP, account.tasks.size * 2);
}
