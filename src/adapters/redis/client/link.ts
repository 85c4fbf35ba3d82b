// A link to Redis that survives its connections: opens them when they are needed, and limits the time of every command.

import { unlessAborted } from '../../../async/abort.js';
import { withRetries } from '../../../async/with-retries.js';
import type { RedisConnection, RedisConnector, RedisOpenOptions } from './connection.js';
import { RedisError, reasonOf, replyCodeOf } from './error.js';

/** The options of a link. */
export interface RedisLinkOptions {
  /** The longest time that a command or an attempt to connect may take. */
  readonly timeoutMs: number;
  /** Called with every new connection before it is used. */
  readonly prepare?: (connection: Pick<RedisConnection, 'send'>) => Promise<void>;
}

/** The time during which a command waits for a server that cannot be reached: a restart is shorter. */
const PATIENCE_MS = 1000;
/** Replies of a server that will be able to serve soon, or that is not the primary any more. */
const PASSING = ['LOADING', 'MASTERDOWN', 'CLUSTERDOWN', 'READONLY', 'TRYAGAIN'];
const ADVICE: Readonly<Record<string, string>> = {
  OOM: ' The memory of Redis is full: raise its maxmemory.',
  NOPERM: ' Give its user the permission in the access list of Redis.',
  NOAUTH: ' Put the password into the URL, or give it to the client.',
  WRONGPASS: ' Check the user and the password.',
  MOVED: ' Pass a client for clusters: createCluster of @redis/client, or Redis.Cluster of ioredis.',
  READONLY: ' The server is a replica. Connect to the primary.',
};

/**
 * A link to Redis. A connection is opened when it is needed and dropped when it fails, so no command waits in a client library to
 * be sent later, and none is sent twice: a command whose reply is lost rejects.
 */
export class RedisLink {
  readonly #connector: RedisConnector;
  readonly #timeoutMs: number;
  readonly #prepare: RedisLinkOptions['prepare'];
  readonly #closing = new AbortController();
  #connection: RedisConnection | undefined;
  #opening: Promise<RedisConnection> | undefined;

  constructor(connector: RedisConnector, { timeoutMs, prepare }: RedisLinkOptions) {
    this.#connector = connector;
    this.#timeoutMs = timeoutMs;
    this.#prepare = prepare;
  }

  /** Sends a command. In a cluster, `key` decides the node. */
  async send(command: readonly string[], options: { readonly key?: string } = {}): Promise<unknown> {
    const connection = this.#connection ?? (await this.#open());
    try {
      return await this.#within(connection.send(command, options), command[0] as string);
    } catch (error) {
      const failure = failureOf(error, { name: command[0] as string, connector: this.#connector });
      const isUsable = failure.code === 'refused' && !PASSING.includes(failure.reply ?? '');
      if (!isUsable) this.#drop(connection);
      throw failure;
    }
  }

  /** Resolves when there is a connection; rejects if none can be opened. */
  async ready(): Promise<void> {
    if (this.#connection === undefined) await this.#open();
  }

  /** Closes the connection until it is needed again. */
  disconnect(): void {
    if (this.#connection !== undefined) this.#drop(this.#connection);
    this.#opening?.then(
      (connection) => this.#drop(connection),
      () => undefined,
    );
  }

  /** Closes the link. Commands that wait for a reply are rejected. */
  close(): void {
    this.#closing.abort(new RedisError('closed', `The connection to ${this.#connector.name} is closed.`));
    if (this.#connection !== undefined) this.#drop(this.#connection);
  }

  #open(): Promise<RedisConnection> {
    this.#closing.signal.throwIfAborted();
    this.#opening ??= this.#openPatiently().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openPatiently(): Promise<RedisConnection> {
    const { signal } = this.#closing;
    const isFinal = (error: unknown): boolean => {
      const reply = replyCodeOf(error);
      return error instanceof RedisError || (reply !== undefined && !PASSING.includes(reply));
    };
    const patience = { baseMs: 25, maxMs: 200, forMs: PATIENCE_MS, until: this.#closing };
    try {
      const connection = await withRetries(() => this.#attempt(), { ...patience, isFinal });
      if (signal.aborted) connection.close();
      else this.#connection = connection;
      return connection;
    } catch (error) {
      signal.throwIfAborted();
      throw unavailable(error, this.#connector);
    }
  }

  async #attempt(): Promise<RedisConnection> {
    return openWithin(this.#connector, {
      which: 'open',
      timeoutMs: this.#timeoutMs,
      signal: this.#closing.signal,
      onMessage: () => undefined,
      onLost: (connection) => this.#drop(connection),
      ...(this.#prepare && { prepare: this.#prepare }),
    });
  }

  #within<T>(reply: Promise<T>, name: string): Promise<T> {
    return within(reply, this.#timeoutMs, () => lateReply(name, this.#timeoutMs, this.#connector));
  }

  #drop(connection: RedisConnection): void {
    if (this.#connection === connection) this.#connection = undefined;
    connection.close();
  }
}

/** How `openWithin` opens a connection. */
export interface OpenWithinOptions extends RedisLinkOptions {
  readonly which: 'open' | 'openOne';
  readonly signal: AbortSignal;
  readonly onMessage: RedisOpenOptions['onMessage'];
  readonly onLost: (connection: RedisConnection, reason: unknown) => void;
}

/** Opens and prepares a connection, or closes it again and rejects if that takes too long. */
export async function openWithin(
  connector: RedisConnector,
  { which, timeoutMs, signal, prepare, onMessage, onLost }: OpenWithinOptions,
): Promise<RedisConnection> {
  const own = new AbortController();
  const late = (): void => own.abort(new Error(`there was no reply within ${timeoutMs} ms`));
  const timer = setTimeout(late, timeoutMs);
  const stop = AbortSignal.any([own.signal, signal]);
  let connection: RedisConnection | undefined;
  try {
    const lost = (reason: unknown): void => {
      own.abort(reason);
      if (connection !== undefined) onLost(connection, reason);
    };
    connection = await connector[which]({ signal: stop, onMessage, onLost: lost });
    stop.throwIfAborted();
    if (prepare !== undefined) await unlessAborted(prepare(connection), stop);
    return connection;
  } catch (error) {
    connection?.close();
    throw stop.aborted ? stop.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Settles as a reply does, or rejects if it takes too long. */
export function within<T>(reply: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    void reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The error for a command that got no reply in time. */
export function lateReply(name: string, ms: number, { name: server }: RedisConnector): RedisError {
  const outcome = 'The command may have been executed.';
  return new RedisError('timeout', `${server} did not reply to ${name} within ${ms} ms. ${outcome}`);
}

/** The error for a server that cannot be reached. */
export function unavailable(error: unknown, { name, secrets }: RedisConnector): RedisError {
  if (error instanceof RedisError) return error;
  const reply = replyCodeOf(error);
  const advice = ADVICE[reply ?? ''] ?? ' Check that the server runs and can be reached.';
  return new RedisError(
    'unavailable',
    `${name} is not available: ${reasonOf(error, secrets)}.${advice}`,
    reply,
  );
}

function failureOf(
  error: unknown,
  { name, connector }: { readonly name: string; readonly connector: RedisConnector },
): RedisError {
  if (error instanceof RedisError) return error;
  const reply = replyCodeOf(error);
  const reason = reasonOf(error, connector.secrets);
  if (reply === undefined)
    return new RedisError(
      'lost',
      `The reply of ${connector.name} to ${name} was lost: ${reason}. The command may have been executed.`,
    );
  const advice = ADVICE[reply] ?? '';
  return new RedisError('refused', `${connector.name} refused ${name}: ${reason}.${advice}`, reply);
}
