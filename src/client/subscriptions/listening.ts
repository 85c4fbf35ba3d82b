import { backoff, delay } from '../../async/delay.js';
import { Turns } from '../../async/turns.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { OptionTable } from '../../protocol/checks/options.js';
import { cancelledBy, McpError, toMcpError } from '../../protocol/errors.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import {
  ACKNOWLEDGED,
  covers,
  includes,
  intersection,
  isEmpty,
  listKinds,
  reportAllChanged,
  union,
} from '../../protocol/model/subscriptions.js';
import { hasUnknown } from '../checks/option-tables.js';
import type { Change, SubscribeOptions, SubscribeTo, Subscription } from '../model/client.js';
import { toTaskState } from '../tasks/task-state.js';
import { toFilter, toSubscribeTo } from './subscribe-to.js';
import { Subscriber } from './subscriber.js';

// The stream of changes that all subscriptions of a client share.

export interface ListeningParts {
  /** Holds `subscriptions/listen` open. */
  readonly listen: (
    filter: SubscriptionFilter,
    onNotification: (method: string, params: JsonObject | undefined) => void,
    signal: AbortSignal,
  ) => Promise<unknown>;
  /** Called with every change, for the cache. */
  readonly notification: (method: string, params: JsonObject | undefined) => void;
  readonly problem: (message: string, cause?: unknown) => void;
}

interface Stream {
  readonly filter: SubscriptionFilter;
  readonly stop: AbortController;
  /** The part that the server granted; undefined until it acknowledges the stream. */
  granted: SubscriptionFilter | undefined;
}

const subscribeTable: OptionTable<SubscribeTo> = {
  tools: 'any',
  prompts: 'any',
  resources: 'any',
  uris: 'any',
  tasks: 'any',
};

/**
 * All subscriptions of a client on one stream, since browsers and proxies allow only a few streams. It is reopened when a
 * subscription is added or closed, and when it breaks.
 */
export class Listening {
  readonly #parts: ListeningParts;
  readonly #subscribers = new Set<Subscriber>();
  readonly #closing = new AbortController();
  #stream: Stream | undefined;
  readonly #changes = new Turns();

  constructor(parts: ListeningParts) {
    this.#parts = parts;
  }

  async subscribe(to: SubscribeTo, { onChange, signal }: SubscribeOptions): Promise<Subscription> {
    if (hasUnknown(to, subscribeTable))
      throw (await import('../checks/option-mistakes.js')).subscribeMistake(to, subscribeTable);
    const filter = toFilter(to);
    if (isEmpty(filter))
      throw new McpError(
        'invalid_params',
        'subscribe needs something to subscribe to, such as a URI or { tools: true }',
      );
    if (signal?.aborted) throw cancelledBy(signal.reason);
    const subscriber = new Subscriber({
      filter,
      onChange,
      problem: this.#parts.problem,
      onClose: () => this.#leave(subscriber),
    });
    this.#subscribers.add(subscriber);
    try {
      await this.#update();
    } catch (error) {
      this.#subscribers.delete(subscriber);
      throw error;
    }
    subscriber.closeOn(signal);
    return subscriber.subscription(toSubscribeTo(intersection(filter, this.#stream?.granted ?? {})));
  }

  close(): void {
    this.#closing.abort(new McpError('connection_closed', 'The client was closed'));
    this.#stream?.stop.abort();
    for (const subscriber of [...this.#subscribers]) void subscriber.close();
  }

  async #leave(subscriber: Subscriber): Promise<void> {
    this.#subscribers.delete(subscriber);
    if (!this.#closing.signal.aborted) await this.#update().catch(() => {});
  }

  /** Adapts the stream to the subscribers, one change after the other. */
  #update(): Promise<void> {
    return this.#changes.take(() => this.#change());
  }

  async #change(): Promise<void> {
    const wanted = union([...this.#subscribers].map(({ filter }) => filter));
    const previous = this.#stream;
    if (previous !== undefined && covers(previous.filter, wanted) && covers(wanted, previous.filter)) return;
    this.#stream = isEmpty(wanted) ? undefined : await this.#open(wanted);
    // The old stream ends after the new one is open, so that nothing is missed.
    previous?.stop.abort();
  }

  /** Opens a stream; resolves when the server has acknowledged it. */
  #open(filter: SubscriptionFilter): Promise<Stream> {
    const stream: Stream = { filter, stop: new AbortController(), granted: undefined };
    const signal = AbortSignal.any([stream.stop.signal, this.#closing.signal]);
    return new Promise((resolve, reject) => {
      this.#listen(stream, signal, () => resolve(stream)).then(
        () => this.#keep(stream, signal),
        (error) => {
          if (stream.granted === undefined) reject(toMcpError(error));
          else this.#keep(stream, signal);
        },
      );
    });
  }

  /** Reopens the stream until it is stopped, even if the server no longer grants it: the server may grant it again later. */
  async #keep(stream: Stream, signal: AbortSignal): Promise<void> {
    const isGranted = (): boolean => !isEmpty(stream.granted ?? {});
    if (!isGranted()) return;
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = performance.now();
      const wasGranted = isGranted();
      try {
        await delay(backoff(failures, { baseMs: 200, maxMs: 30_000 }), { signal });
        await this.#listen(stream, signal, () => this.#reportAllChanged(stream));
        if (wasGranted && !isGranted())
          this.#parts.problem('The server no longer grants the subscription; the client keeps asking');
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.problem('The subscription was interrupted and is being reopened', error);
      }
      failures = performance.now() - startedAt > 5000 ? 0 : failures + 1;
    }
  }

  async #listen(stream: Stream, signal: AbortSignal, onAcknowledged: () => void): Promise<void> {
    await this.#parts.listen(
      stream.filter,
      (method, params) => {
        if (method !== ACKNOWLEDGED) return this.#onNotification(method, params);
        stream.granted = isObject(params?.['notifications']) ? params['notifications'] : {};
        onAcknowledged();
      },
      signal,
    );
    if (stream.granted === undefined)
      throw new McpError('bad_response', 'The server ended the subscription without acknowledging it');
  }

  #onNotification(method: string, params: JsonObject | undefined): void {
    this.#parts.notification(method, params);
    try {
      const change = toChange(method, params);
      if (change === undefined) return;
      for (const subscriber of this.#subscribers)
        if (includes(subscriber.filter, method, params)) subscriber.notify(change);
    } catch (error) {
      this.#parts.problem(`The server sent a malformed ${method}`, error);
    }
  }

  #reportAllChanged({ granted = {} }: Stream): void {
    reportAllChanged(granted, (method, params = {}) => this.#onNotification(method, params));
  }
}

function toChange(method: string, params: JsonObject | undefined): Change | undefined {
  for (const kind of listKinds) if (method === `notifications/${kind}/list_changed`) return { kind };
  if (method === 'notifications/resources/updated' && typeof params?.['uri'] === 'string')
    return { kind: 'resource', uri: params['uri'] };
  if (method === 'notifications/tasks' && params !== undefined) {
    const state = toTaskState(params);
    return { kind: 'task', id: state.id, state };
  }
  return undefined;
}
