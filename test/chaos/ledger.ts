import { appendFileSync, closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import type { Effect } from './history.js';

/** The file to which all replicas append their effects, one per line. */
export class Ledger {
  readonly path: string;
  readonly #effects: Effect[] = [];
  #offset = 0;
  #rest = '';

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, '');
  }

  append(effect: Effect): void {
    appendFileSync(this.path, `${JSON.stringify(effect)}\n`);
  }

  /** All effects so far. */
  read(): readonly Effect[] {
    const file = openSync(this.path, 'r');
    try {
      const buffer = Buffer.alloc(1024 * 1024);
      for (;;) {
        const count = readSync(file, buffer, 0, buffer.length, this.#offset);
        if (count === 0) return this.#effects;
        this.#offset += count;
        // The last line may not be complete yet.
        const lines = (this.#rest + buffer.toString('latin1', 0, count)).split('\n');
        this.#rest = lines.pop() as string;
        for (const line of lines) this.#effects.push(JSON.parse(line) as Effect);
      }
    } finally {
      closeSync(file);
    }
  }
}
