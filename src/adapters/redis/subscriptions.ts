// Subscriptions to channels, all over one connection that is opened again when it is lost.

import { every } from '../../async/every.js';
import { Retries } from '../../async/retries.js';
import type { RedisConnection, RedisConnector } from './client/connection.js';
import { RedisError } from './client/error.js';
import { lateReply, openWithin, unavailable, within } from './client/link.js';

/** Receives the messages of a channel. */
export interface ChannelListener {
  readonly message: (message: string) => void;
  /** Called after the connection was lost, once the subscription stands again. */
  readonly gap: () => void;
}

/** The subscriptions of one part of a cluster: of its bus, or of its event log. */
export interface SubscriptionShare {
  /** Subscribes to a channel. When the promise resolves, no message is missed any more. Returns a function that ends it. */
  subscribe(channel: string, listener: ChannelListener): Promise<() => void>;
  /** Ends all subscriptions of this part. The connection is closed if there are no others. */
  end(): void;
}

/** The subscriptions of a process. The connection is opened with the first one. */
export class Subscriptions {
  readonly #connector: RedisConnector;
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();
  readonly #channels = new Map<string, Set<ChannelListener>>();
  #connection: RedisConnection | undefined;
  #opening: Promise<RedisConnection> | undefined;
  #isRestoring = false;

  constructor(connector: RedisConnector, { timeoutMs }: { readonly timeoutMs: number }) {
    this.#connector = connector;
    this.#timeoutMs = timeoutMs;
  }

  /** The subscriptions for one part of the cluster. */
  share(): SubscriptionShare {
    const ends = new Set<() => void>();
    const ended = new AbortController();
    return {
      subscribe: async (channel, listener) => {
        ended.signal.throwIfAborted();
        const remove = await this.#subscribe(channel, listener);
        const end = (): void => {
          ends.delete(end);
          remove();
        };
        ends.add(end);
        if (ended.signal.aborted) end();
        ended.signal.throwIfAborted();
        return end;
      },
      end: () => {
        ended.abort(this.#closedError());
        for (const end of [...ends]) end();
        if (this.#channels.size > 0) return;
        this.#connection?.close();
        this.#connection = undefined;
      },
    };
  }

  async #subscribe(channel: string, { message, gap }: ChannelListener): Promise<() => void> {
    this.#closing.signal.throwIfAborted();
    const listener: ChannelListener = { message, gap };
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners.add(listener));
    const end = (): void => this.#remove(channel, listener);
    try {
      // A connection that was lost in between is replaced, and the channel is subscribed to again with all others.
      const connection = this.#connection ?? (await this.#open());
      await this.#ask(connection, 'SUBSCRIBE', () => connection.subscribe(channel));
      return end;
    } catch (error) {
      end();
      throw error instanceof RedisError ? error : unavailable(error, this.#connector);
    }
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#closing.abort(this.#closedError());
    this.#channels.clear();
    this.#connection?.close();
    this.#connection = undefined;
  }

  #closedError(): RedisError {
    return new RedisError('closed', `The connection to ${this.#connector.name} is closed.`);
  }

  #remove(channel: string, listener: ChannelListener): void {
    const listeners = this.#channels.get(channel);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.#channels.delete(channel);
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#ask(connection, 'UNSUBSCRIBE', () => connection.unsubscribe(channel)).catch(() => undefined);
  }

  #open(): Promise<RedisConnection> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #connect(): Promise<RedisConnection> {
    const connection = await openWithin(this.#connector, {
      which: 'openOne',
      timeoutMs: this.#timeoutMs,
      signal: this.#closing.signal,
      onMessage: (channel, message) => {
        for (const listener of [...(this.#channels.get(channel) ?? [])]) listener.message(message);
      },
      onLost: (lost) => this.#lose(lost),
    });
    this.#connection = connection;
    this.#watch(connection);
    return connection;
  }

  /** Sends a command about a channel. A connection that does not answer is given up. */
  async #ask<T>(connection: RedisConnection, name: string, send: () => Promise<T>): Promise<T> {
    try {
      return await within(send(), this.#timeoutMs, () => lateReply(name, this.#timeoutMs, this.#connector));
    } catch (error) {
      this.#lose(connection);
      throw error;
    }
  }

  // A subscriber that hears nothing cannot tell silence from a dead connection.
  #watch(connection: RedisConnection): void {
    const stop = every(this.#timeoutMs, () => {
      if (this.#connection !== connection) return stop();
      this.#ask(connection, 'PING', () => connection.send(['PING'])).catch(() => undefined);
    });
  }

  #lose(connection: RedisConnection): void {
    connection.close();
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    if (!this.#isRestoring) void this.#restore();
  }

  /** Opens a connection, subscribes to all channels again, and then reports the gap. */
  async #restore(): Promise<void> {
    this.#isRestoring = true;
    const retries = new Retries({ baseMs: 50, maxMs: 2000, until: this.#closing, unref: true });
    while ((await retries.next()) && this.#channels.size > 0) {
      const affected = [...this.#channels.values()].flatMap((listeners) => [...listeners]);
      try {
        const connection = this.#connection ?? (await this.#open());
        const channels = [...this.#channels.keys()];
        await Promise.all(
          channels.map((channel) => this.#ask(connection, 'SUBSCRIBE', () => connection.subscribe(channel))),
        );
        if (this.#connection !== connection) continue;
        this.#isRestoring = false;
        for (const listener of affected) listener.gap();
        return;
      } catch {
        // Redis is still unavailable.
      }
    }
    this.#isRestoring = false;
  }
}
