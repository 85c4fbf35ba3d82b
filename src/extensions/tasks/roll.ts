// The processes that run the tasks of a server.

import { every } from '../../async/every.js';
import type { Store, StoreChange } from '../../state/store.js';
import type { Process } from './operator.js';

/** The parts of a `Roll`. */
export interface RollParts {
  readonly store: Store;
  /** The beginning of the keys of the processes. */
  readonly prefix: string;
  /** This process. */
  readonly owner: () => string;
  /** The facts about this process, for operators. */
  readonly describe: () => Process;
  /** The time after which a process counts as dead. */
  readonly leaseMs: number;
}

const PAGE = 100;

/** Knows which processes run tasks of the server. Each renews an entry of its own. That of a process that died expires. */
export class Roll {
  readonly #parts: RollParts;
  #startedAt = Number.POSITIVE_INFINITY;
  #stop: (() => void) | undefined;
  #signing: Promise<void> | undefined;

  constructor(parts: RollParts) {
    this.#parts = parts;
  }

  /** Signs on, and renews the entry until `close`. */
  async start(): Promise<void> {
    if (this.#stop !== undefined) return;
    this.#startedAt = performance.now();
    this.#stop = every(this.#parts.leaseMs / 3, () => this.#sign());
    await this.#sign();
  }

  /** The time since this process has signed on. */
  get ageMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Whether a process runs tasks that is neither this one nor one of these. */
  async hasOther(than: readonly string[]): Promise<boolean> {
    const { store, prefix, owner } = this.#parts;
    const known = new Set([...than, owner()]);
    for (let after = ''; ; ) {
      const page = await store.page(prefix, { limit: PAGE, ...(after !== '' && { after }) });
      if (page.some(({ key }) => !known.has(key.slice(prefix.length)))) return true;
      after = page.at(-1)?.key ?? '';
      if (page.length < PAGE) return false;
    }
  }

  /** Signs off: this process takes up nothing more. */
  async close(): Promise<void> {
    if (this.#stop === undefined) return;
    this.#stop();
    await this.#signing;
    await this.#write({ do: 'delete', key: this.#key });
  }

  #sign(): Promise<void> {
    const { describe, leaseMs } = this.#parts;
    this.#signing = this.#write({ do: 'put', key: this.#key, value: { ...describe() }, ttlMs: leaseMs });
    return this.#signing;
  }

  // A store that fails is reported by the tasks and by their claims. The next renewal tries again.
  async #write(change: StoreChange): Promise<void> {
    await this.#parts.store.write([change]).catch(() => undefined);
  }

  get #key(): string {
    return `${this.#parts.prefix}${this.#parts.owner()}`;
  }
}
