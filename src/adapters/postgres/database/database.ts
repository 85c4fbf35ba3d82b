// The database: runs statements in bounded time, on connections of a pool.

import { settlesWithin } from '../../../async/deadline.js';
import { withRetries } from '../../../async/with-retries.js';
import { ConnectionLimit } from './connection-limit.js';
import { failureOf, isTransient, keepsConnection, timedOut } from './failures.js';
import type { PgClient, PgPool } from './pg.js';
import type { DatabaseTarget } from './target.js';

/** A statement, prepared once on each connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** The settings of a database. */
export interface PostgresDatabaseOptions {
  /** Makes the pool, when the first connection is needed. */
  readonly makePool: () => PgPool | Promise<PgPool>;
  /** Whether the pool is ours: its connections get settings of their own, and it is ended at the end. */
  readonly ownsPool: boolean;
  /** Whether a pooler shares the server's connections among clients: nothing may be left on a connection then. */
  readonly isPooled: boolean;
  readonly target: DatabaseTarget;
  readonly schema: string;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** The number of connections for everything that is not urgent. The pool must have one more, and one for a receiver that listens. */
  readonly maxConnections: number;
  /** Prepares the database before the first statement. Tried again with the next statement if it fails. */
  readonly prepare: (client: PgClient) => Promise<void>;
}

const RETRY = { baseMs: 5, maxMs: 200, maxAttempts: 6, isFinal: (error: unknown) => !isTransient(error) };
/** The server ends a statement this much earlier than the client stops waiting, so that the connection can be kept. */
const SERVER_FIRST_MS = 1000;
const END_MS = 5000;

/** Where a statement stands. */
export interface Urgency {
  /** Whether it takes a connection that is kept free for it. Default: false. */
  readonly isUrgent?: boolean;
}

/** Runs statements on the connections of a pool. Nothing is connected before the first statement. */
export class PostgresDatabase {
  readonly target: DatabaseTarget;
  readonly schema: string;
  readonly isPooled: boolean;
  readonly statementTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly #options: PostgresDatabaseOptions;
  readonly #limit: ConnectionLimit;
  readonly #known = new WeakSet<PgClient>();
  #pool: Promise<PgPool> | undefined;
  #ready: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: PostgresDatabaseOptions) {
    const { target, schema, isPooled, statementTimeoutMs, connectTimeoutMs } = options;
    this.#options = options;
    this.target = target;
    this.schema = schema;
    this.isPooled = isPooled;
    this.statementTimeoutMs = statementTimeoutMs;
    this.connectTimeoutMs = connectTimeoutMs;
    this.#limit = new ConnectionLimit(options.maxConnections, connectTimeoutMs, (most) =>
      timedOut(target, `had none of its ${most} connections free`, connectTimeoutMs),
    );
  }

  /** Runs a statement, which is a transaction of its own. Tries again if it failed only because of other transactions. */
  async query<Row>(statement: Statement, values: unknown[], urgency: Urgency = {}): Promise<Row[]> {
    await this.ready();
    const once = (): Promise<Row[]> =>
      this.withClient((client) => this.run<Row>(client, statement, values), urgency);
    return withRetries(once, RETRY);
  }

  /** Runs a statement on a connection, and stops waiting for it after the time limit. */
  async run<Row>(client: PgClient, { name, text }: Statement, values: unknown[]): Promise<Row[]> {
    const { rows } = await client.query({
      text,
      values,
      query_timeout: this.patienceMs,
      ...(!this.isPooled && { name: `fullmcp:${this.schema}:${name}` }),
    });
    return rows as Row[];
  }

  /** Resolves when the database is prepared. */
  ready(): Promise<void> {
    this.#ready ??= this.withClient(this.#options.prepare, { isUrgent: true }).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Lends a connection to `work`. Rejects with a failure that names the database. */
  async withClient<T>(
    work: (client: PgClient) => Promise<T>,
    { isUrgent = false }: Urgency = {},
  ): Promise<T> {
    return isUrgent ? this.#lend(work) : this.#limit.run(() => this.#lend(work));
  }

  async #lend<T>(work: (client: PgClient) => Promise<T>): Promise<T> {
    const client = await this.connect();
    let broken: Error | undefined;
    // Without a listener, a connection that breaks while no statement runs would end the process.
    const onError = (error: Error): void => {
      broken = error;
    };
    client.on('error', onError);
    try {
      const result = await work(client);
      client.removeListener('error', onError);
      client.release(broken);
      return result;
    } catch (error) {
      client.removeListener('error', onError);
      client.release(broken !== undefined || !keepsConnection(error));
      throw this.explain(error);
    }
  }

  /** Takes a connection out of the pool. The caller releases it. */
  async connect(): Promise<PgClient> {
    if (this.#isClosed) throw new Error('The connections to Postgres are closed.');
    const { connectTimeoutMs, target } = this.#options;
    try {
      const connecting = (await this.#openPool()).connect();
      if (!(await settlesWithin(connecting, connectTimeoutMs))) {
        void connecting.then((client) => client.release()).catch(() => undefined);
        throw timedOut(target, 'gave no connection', connectTimeoutMs);
      }
      const client = await connecting;
      if (!this.#known.has(client)) await this.#configure(client);
      return client;
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** Ends the pool, if it is ours. Connections that are still in use after a while are left to the server's time limits. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const pool = await this.#pool?.catch(() => undefined);
    if (pool === undefined) return;
    if (this.#options.ownsPool) await settlesWithin(pool.end(), END_MS, { unref: true });
    else pool.removeListener('error', ignore);
  }

  #openPool(): Promise<PgPool> {
    this.#pool ??= this.#makePool().catch((error: unknown) => {
      this.#pool = undefined;
      throw error;
    });
    return this.#pool;
  }

  async #makePool(): Promise<PgPool> {
    const pool = await this.#options.makePool();
    // A connection that breaks while it is idle is removed by the pool. Without a listener it would end the process.
    pool.on('error', ignore);
    return pool;
  }

  /** Limits the time of statements on the server's side too, so that a statement ends even if nobody waits for it any more. */
  async #configure(client: PgClient): Promise<void> {
    const { ownsPool, isPooled, statementTimeoutMs } = this.#options;
    if (ownsPool && !isPooled) {
      try {
        await client.query({
          text: `SET statement_timeout = ${statementTimeoutMs}; SET default_transaction_isolation = 'read committed'`,
          query_timeout: this.connectTimeoutMs,
        });
      } catch (error) {
        client.release(true);
        throw error;
      }
    }
    this.#known.add(client);
  }

  /** The time after which a statement is given up. */
  get patienceMs(): number {
    return this.statementTimeoutMs + SERVER_FIRST_MS;
  }

  /** The error that a caller gets: it names the database, and has no password. */
  explain(error: unknown): Error {
    const { message } = error as Error;
    if (message === 'Query read timeout')
      return timedOut(this.target, 'did not answer a statement', this.patienceMs);
    if (/^timeout exceeded when trying to connect|due to connection timeout/.test(message))
      return timedOut(this.target, 'gave no connection', this.connectTimeoutMs);
    return failureOf(error, this.target);
  }
}

function ignore(): void {
  // The pool removes the connection, and the next statement opens another.
}
