import { onAbort } from '../../../async/abort.js';
import { unref } from '../../../async/unref.js';
import type { TokenLock, TokenStore } from './token-store.js';

/** Makes a token store that lasts as long as the process. */
export function memoryTokenStore(): TokenStore {
  const values = new Map<string, string>();
  const locks = new Map<string, Lock>();
  return {
    async get(key) {
      return values.get(key);
    },
    async set(key, value, { expected } = {}) {
      if (expected !== undefined && (values.get(key) ?? null) !== expected) return false;
      values.set(key, value);
      return true;
    },
    async delete(key) {
      values.delete(key);
    },
    async lock(key, options) {
      const lock = locks.get(key) ?? new Lock(() => locks.delete(key));
      locks.set(key, lock);
      return lock.take(options);
    },
  };
}

type Release = () => Promise<void>;

/** A lock that its holders take in turn. */
class Lock {
  readonly #waiting = new Set<() => void>();
  readonly #onUnused: () => void;
  #isHeld = false;

  constructor(onUnused: () => void) {
    this.#onUnused = onUnused;
  }

  take({ ms, signal }: TokenLock): Promise<Release> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const hold = (): void => {
        forget?.();
        this.#isHeld = true;
        resolve(this.#held(ms));
      };
      const forget =
        signal &&
        onAbort(signal, () => {
          this.#waiting.delete(hold);
          reject(signal.reason);
        });
      if (this.#isHeld) this.#waiting.add(hold);
      else hold();
    });
  }

  #held(ms: number): Release {
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#next();
    };
    const timer = setTimeout(end, ms);
    unref(timer);
    return async () => end();
  }

  #next(): void {
    this.#isHeld = false;
    const [hold] = this.#waiting;
    if (hold === undefined) return this.#onUnused();
    this.#waiting.delete(hold);
    hold();
  }
}
