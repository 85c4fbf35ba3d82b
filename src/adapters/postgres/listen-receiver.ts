// A connection that listens on the channel of the schema, and is opened again when it breaks.

import { settlesWithin } from '../../async/deadline.js';
import { every } from '../../async/every.js';
import { Retries } from '../../async/retries.js';
import type { PostgresDatabase } from './database/database.js';
import type { PgClient, PgNotification } from './database/pg.js';
import { type Receiver, Topics } from './signals.js';

/** The interval of the statements that find out whether the server still answers. */
const HEARTBEAT_MS = 5000;
/** The longest time until the first notification arrives. */
const PROBE_MS = 3000;

/** Listens on a connection of its own, from the first subscription on. After each interruption, a gap is reported. */
export class ListenReceiver implements Receiver {
  readonly topics: Topics = new Topics();
  readonly #database: PostgresDatabase;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #standing = new Deferred();
  #isStanding = false;
  #lastError: unknown;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  get isStanding(): boolean {
    return this.#isStanding;
  }

  async stands(): Promise<void> {
    if (this.#closing.signal.aborted) throw new Error('The bus is closed.');
    this.#running ??= this.#run();
    if (this.#isStanding) return;
    const { connectTimeoutMs, statementTimeoutMs, target } = this.#database;
    const isSettled = await settlesWithin(this.#standing.promise, connectTimeoutMs + statementTimeoutMs);
    if (this.#closing.signal.aborted) throw new Error('The bus is closed.');
    if (isSettled) return;
    throw this.#lastError ?? new Error(`Postgres at ${target.name} did not accept LISTEN in time.`);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.topics.clear();
    this.#standing.resolve();
    await this.#running;
  }

  async #run(): Promise<void> {
    let stoodBefore = false;
    const retries = new Retries({ baseMs: 50, maxMs: 5000, until: this.#closing, unref: true });
    while (await retries.next()) {
      try {
        await this.#listen(() => {
          this.#isStanding = true;
          retries.failures = 0;
          if (stoodBefore) this.topics.gap();
          stoodBefore = true;
          this.#standing.resolve();
        });
      } catch (error) {
        this.#lastError = error;
      }
      if (this.#isStanding) this.#standing = new Deferred();
      this.#isStanding = false;
    }
  }

  /** Listens until the connection breaks or the receiver is closed. */
  async #listen(onStanding: () => void): Promise<void> {
    await this.#database.ready();
    const client = await this.#database.connect();
    const { signal } = this.#closing;
    const broken = new Deferred();
    const onBroken = (): void => broken.resolve();
    const channel = channelOf(this.#database.schema);
    const probe = crypto.randomUUID();
    const probed = new Deferred();
    const onNotification = (notification: PgNotification): void => {
      if (notification.channel !== channel) return;
      if (notification.payload === probe) probed.resolve();
      else this.topics.receive(notification.payload ?? '');
    };
    client.on('error', onBroken);
    client.on('end', onBroken);
    client.on('notification', onNotification);
    signal.addEventListener('abort', onBroken);
    // It may have been closed while the connection was opened.
    if (signal.aborted) onBroken();
    const stopBeating = every(HEARTBEAT_MS, () => this.#beat(client), { onError: onBroken });
    try {
      const { statementTimeoutMs: query_timeout, target } = this.#database;
      await client.query({ text: `LISTEN "${channel}"`, query_timeout });
      // A pooler may accept LISTEN and then give the server's connection to another client. Sent by another connection, because the
      // pooler would still hand on what the same one causes.
      await this.#database.withClient(
        (other) => other.query({ text: `SELECT pg_notify('${channel}', '${probe}')`, query_timeout }),
        { isUrgent: true },
      );
      if (!(await settlesWithin(Promise.race([probed.promise, broken.promise]), PROBE_MS)))
        throw new Error(
          `Postgres at ${target.name} accepted LISTEN, but no notification arrived. A pooler in transaction mode does this: connect to the server itself, or set the option "listen" to false.`,
        );
      if (!signal.aborted) onStanding();
      await broken.promise;
    } finally {
      stopBeating();
      signal.removeEventListener('abort', onBroken);
      client.removeListener('notification', onNotification);
      // The listeners for errors stay: the connection is closed, and may report how.
      client.release(true);
    }
  }

  async #beat(client: PgClient): Promise<void> {
    await client.query({ text: 'SELECT 1', query_timeout: HEARTBEAT_MS });
  }
}

/** The name of the channel of a schema. */
export function channelOf(schema: string): string {
  return `${schema}_bus`;
}

class Deferred {
  readonly promise: Promise<void>;
  resolve: () => void = () => undefined;

  constructor() {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
}
