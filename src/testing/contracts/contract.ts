// The form of a contract suite: cases for any test runner.

import assert from 'node:assert/strict';
import { delay } from '../../async/delay.js';
import type { Store } from '../../state/store.js';

/** One case of a contract: a sentence, and a function that rejects if the sentence is not true. */
export interface ContractCase {
  /** The sentence that must be true. */
  readonly name: string;
  /** Resolves if the sentence is true. */
  readonly run: () => Promise<void>;
}

/** The subject of a case: the store, the store as another process sees it, and a group of its own. */
interface StoreCase {
  readonly store: Store;
  readonly other: Store;
  readonly group: string;
}

/** A case of a store's contract, before it has a store. */
export type StoreCases = Readonly<Record<string, (subject: StoreCase) => Promise<void>>>;

/** The longest time that a case waits for something to happen. */
const PATIENCE_MS = 20_000;
const POLL_MS = 10;

/** Calls `read` until it returns a value. Fails after a while, with the sentence of what was awaited. */
export async function eventually<T>(
  awaited: string,
  read: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (performance.now() > end) assert.fail(`It never happened that ${awaited}.`);
    await delay(POLL_MS);
  }
}

/** Passes if the promise rejects with a `RangeError`: the error for something that can never be written. */
export async function rejectsAsImpossible(promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error) => error instanceof RangeError);
}

/** A name that no other case uses, so that cases can share a store. */
export function uniqueName(): string {
  return crypto.randomUUID().slice(0, 13);
}
