// Removes what has expired, a little at a time.

import { unref } from '../../async/unref.js';
import type { PostgresDatabase } from './database/database.js';
import { MESSAGE_MS } from './poll-receiver.js';

/** The interval between two sweeps, and the shorter one after a sweep that had not enough room for everything. */
const SWEEP_MS = 15_000;
const AGAIN_MS = 250;
/** The largest number of rows that a sweep removes, but for the events of one stream. */
const MAX_ROWS = 1000;

/** Sweeps the tables from time to time. All processes try it, one does it. */
export class Sweeper {
  readonly #database: PostgresDatabase;
  readonly #streamMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(database: PostgresDatabase, streamMs: number) {
    this.#database = database;
    this.#streamMs = streamMs;
  }

  start(): void {
    if (this.#timer === undefined) this.#schedule(SWEEP_MS);
  }

  /** Removes at most a certain number of rows. Returns how many there were. */
  async sweep(): Promise<number> {
    const { schema } = this.#database;
    const statement = {
      name: 'sweep',
      text: `SELECT ${schema}.sweep_1($1, $2::float8, $3::float8) AS removed`,
    };
    const [row] = await this.#database.query<{ readonly removed: number }>(statement, [
      MAX_ROWS,
      this.#streamMs,
      MESSAGE_MS,
    ]);
    return row?.removed ?? 0;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    if (this.#isClosed) return;
    // Not all processes at the same time.
    this.#timer = setTimeout(() => void this.#run(), ms * (0.75 + Math.random() / 2));
    unref(this.#timer);
  }

  async #run(): Promise<void> {
    const removed = await this.sweep().catch(() => 0);
    this.#schedule(removed >= MAX_ROWS ? AGAIN_MS : SWEEP_MS);
  }
}
