// A table of messages that is polled, where a pooler forbids LISTEN.

import { backoff, delay } from '../../async/delay.js';
import type { PostgresDatabase, Statement } from './database/database.js';
import { type Receiver, Topics } from './signals.js';

/** The time after which a message is removed. */
export const MESSAGE_MS = 60_000;
const MAX_MESSAGES = 1000;

interface MessageRow {
  readonly id: string | null;
  readonly payload: string | null;
  /** When the server was started: a crash empties the table. */
  readonly started: string;
  readonly now_ms: number;
}

interface Position {
  readonly id: number;
  readonly started: string;
  readonly nowMs: number;
}

/** Polls the table of messages, from the first subscription on. Reports a gap if messages may have been removed before they were read. */
export class PollReceiver implements Receiver {
  readonly topics: Topics = new Topics();
  readonly #database: PostgresDatabase;
  readonly #pollMs: number;
  readonly #closing = new AbortController();
  #position: Promise<Position> | undefined;
  #running: Promise<void> | undefined;
  #isStanding = false;

  constructor(database: PostgresDatabase, pollMs: number) {
    this.#database = database;
    this.#pollMs = pollMs;
  }

  get isStanding(): boolean {
    return this.#isStanding;
  }

  async stands(): Promise<void> {
    if (this.#closing.signal.aborted) throw new Error('The bus is closed.');
    this.#position ??= this.#newest().catch((error: unknown) => {
      this.#position = undefined;
      throw error;
    });
    const position = await this.#position;
    this.#running ??= this.#run(position);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.topics.clear();
    await this.#running;
  }

  async #run(start: Position): Promise<void> {
    const { signal } = this.#closing;
    this.#isStanding = true;
    let failures = 0;
    for (let position = start; !signal.aborted; ) {
      const waitMs = failures === 0 ? this.#pollMs : backoff(failures, { baseMs: this.#pollMs, maxMs: 5000 });
      await delay(waitMs, { signal, unref: true }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        position = await this.#poll(position, failures > 0);
        failures = 0;
        this.#isStanding = true;
      } catch {
        failures++;
        this.#isStanding = false;
      }
    }
  }

  async #poll(from: Position, wasInterrupted: boolean): Promise<Position> {
    const { schema } = this.#database;
    const poll: Statement = {
      name: 'poll',
      text: `SELECT m.id, m.payload, pg_postmaster_start_time()::text AS started,
          (extract(epoch FROM statement_timestamp()) * 1000)::float8 AS now_ms
        FROM (SELECT 1) one LEFT JOIN LATERAL
          (SELECT id, payload FROM ${schema}.message WHERE id > $1 ORDER BY id LIMIT ${MAX_MESSAGES}) m ON true ORDER BY m.id`,
    };
    const rows = await this.#database.query<MessageRow>(poll, [from.id]);
    const { started, now_ms: nowMs } = rows[0] as MessageRow;
    const messages = rows.filter(({ id }) => id !== null);
    for (const { payload } of messages) this.topics.receive(payload as string);
    const isLate = nowMs - from.nowMs > MESSAGE_MS / 2;
    if (wasInterrupted || started !== from.started || isLate) this.topics.gap();
    const id = Number(messages.at(-1)?.id ?? from.id);
    // A page that is full is followed by the next one at once.
    if (messages.length === MAX_MESSAGES) return this.#poll({ id, started, nowMs }, false);
    return { id, started, nowMs };
  }

  async #newest(): Promise<Position> {
    const newest: Statement = {
      name: 'newest',
      text: `SELECT coalesce((SELECT max(id) FROM ${this.#database.schema}.message), 0) AS id,
        pg_postmaster_start_time()::text AS started, (extract(epoch FROM statement_timestamp()) * 1000)::float8 AS now_ms`,
    };
    const [row] = await this.#database.query<MessageRow>(newest, []);
    const { id, started, now_ms: nowMs } = row as MessageRow;
    return { id: Number(id), started, nowMs };
  }
}
