// The notifications that a test client has received, and a way to know that no more are on the way.

import type { Client } from '../../client/model/client.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch } from '../../protocol/call.js';
import { fromDirect, toDirect } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';

/** A notification that a client has received. */
export interface ReceivedNotification {
  /** The notification's method, such as `notifications/resources/updated`. */
  readonly method: string;
  /** The notification's parameters. */
  readonly params: JsonObject | undefined;
}

const MARKER = 'notifications/fullmcp/marker';
const MAX_RECEIVED = 10_000;
const MARKER_MS = 5000;

// The real ones, even if a test replaces the timers.
const { setTimeout: startTimer, clearTimeout: stopTimer, setImmediate: nextTurn } = globalThis;

/**
 * Records notifications. It also sends a marker down every stream of changes, behind everything that the server has sent there:
 * when all markers have arrived, so has everything before them.
 */
export class ReceivedRecord {
  readonly received: ReceivedNotification[] = [];
  readonly #streams = new Set<Call>();
  readonly #waiting = new Map<number, () => void>();
  #lastMarker = 0;

  /** A dispatch that does the same as this one, and remembers the open streams of changes. */
  observe(dispatch: Dispatch): Dispatch {
    const answer = toDirect(dispatch) ?? dispatch;
    const streams = this.#streams;
    return fromDirect(function observe(call) {
      const outcome = answer(call);
      if (call.method !== 'subscriptions/listen' || !(outcome instanceof Promise)) return outcome;
      streams.add(call);
      return outcome.finally(() => streams.delete(call));
    });
  }

  /** Records the notifications of a client. */
  connect(client: Client): void {
    client.on('log', (message) => this.add('notifications/message', { ...message }));
    client.on('notification', ({ method, params }) => {
      if (method === MARKER) this.#arrived(params);
      // Log messages are events of their own.
      else if (method !== 'notifications/message') this.add(method, params);
    });
  }

  add(method: string, params: JsonObject | undefined): void {
    const { _meta, ...rest } = params ?? {};
    const meta = isObject(_meta) ? { ..._meta } : {};
    // The number of the subscription is a detail of the connection.
    delete meta[SUBSCRIPTION_ID];
    const hasMeta = Object.keys(meta).length > 0;
    this.received.push({ method, params: params && { ...rest, ...(hasMeta && { _meta: meta }) } });
    if (this.received.length > MAX_RECEIVED) this.received.shift();
  }

  /** Resolves when everything has arrived that the server had sent. */
  async settled(client: Client): Promise<void> {
    // The server has now handled everything that the client sent before, and a turn lets it finish what it has begun.
    await client.ping();
    await new Promise<void>((resolve) => nextTurn(resolve));
    await Promise.all([...this.#streams].map((stream) => this.#mark(stream)));
  }

  #mark(stream: Call): Promise<void> {
    const marker = ++this.#lastMarker;
    return new Promise((resolve, reject) => {
      const timer = startTimer(() => {
        this.#waiting.delete(marker);
        reject(
          new McpError(
            'timeout',
            `The end of a stream of changes did not arrive within ${MARKER_MS} ms. Are there faults on the way, or was the client closed?`,
          ),
        );
      }, MARKER_MS);
      this.#waiting.set(marker, () => {
        stopTimer(timer);
        this.#waiting.delete(marker);
        resolve();
      });
      stream.notify(MARKER, { marker, _meta: { [SUBSCRIPTION_ID]: stream.id } });
    });
  }

  #arrived(params: JsonObject | undefined): void {
    this.#waiting.get(params?.['marker'] as number)?.();
  }
}
