// Events through a proxy. Polls and streams are passed on, and a stream outlives the connection to the server.

import { hasEnded, Lifetime, onEnd, withSignal } from '../../async/lifetime.js';
import { Retries } from '../../async/retries.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { type ErrorCode, McpError } from '../../protocol/errors.js';
import {
  dialectOfCall,
  eventFailure,
  inDialectOf,
  unsupportedDelivery,
} from '../../protocol/event-failures.js';
import { eventNotifications } from '../../protocol/events/wire.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import { withoutWebhooks } from '../routing/lists.js';
import { connectionCodes } from './connection-errors.js';

/** A call that may be sent. */
interface Sendable {
  /** Whether the server knows the caller. Otherwise all callers are one to it. */
  readonly isKnown: boolean;
  readonly send: () => Promise<Outcome>;
}

/** The way of calls to the server. */
interface Way {
  /** Decides as whom a call is sent. Rejects if it may not be sent. */
  readonly prepare: (call: Call) => Promise<Sendable>;
  /** Ends when the proxy is closed. */
  readonly closing: Lifetime;
}

/** Passes a call about events on. Its error has the number that the dialect of the caller has for it. */
export async function passEvents(call: Call, way: Way): Promise<Outcome> {
  try {
    return await pass(call, way);
  } catch (error) {
    throw McpError.is(error) ? inDialectOf(call, error) : error;
  }
}

async function pass(call: Call, way: Way): Promise<Outcome> {
  const { method, params } = call;
  if (method === 'events/stream') return new PassedStream(call, way).run();
  const { isKnown, send } = await way.prepare(call);
  if (isKnown) return send();
  // The server would take the webhooks of all callers for those of one, who could change and end those of another.
  const dialect = dialectOfCall(call);
  if (method === 'events/subscribe') throw unsupportedDelivery(String(params['name']), 'webhook', dialect);
  if (method === 'events/unsubscribe')
    throw eventFailure('not_found', 'There are no webhooks of events here.', {
      dialect,
      data: { kind: 'subscription' },
    });
  const outcome = await send();
  const { events } = outcome;
  if (method !== 'events/list' || !Array.isArray(events)) return outcome;
  return { ...outcome, events: events.flatMap((type) => (isObject(type) && withoutWebhooks(type)) || []) };
}

const RETRY = { baseMs: 250, maxMs: 15_000 };
/** After a stream has lived this long, a failure counts as new: the pauses start over. */
const STABLE_MS = 5000;
const ofStreams: ReadonlySet<string> = new Set(
  Object.values(eventNotifications).filter((method) => method !== eventNotifications.listChanged),
);

/** A stream, from its confirmation to its end: after a lost connection, it is opened again where it was. */
class PassedStream {
  readonly #call: Call;
  readonly #way: Way;
  readonly #retries: Retries;
  /** Ends with the call, and when the proxy is closed. */
  readonly #lifetime = new Lifetime();
  #isActive = false;
  /** When this attempt became active; undefined if it did not. */
  #activeAt: number | undefined;
  /** The reason of the interruption that the caller knows of; undefined while there is none. */
  #told: ErrorCode | undefined;
  /** The position after what the caller was told; null if the type has no positions. */
  #cursor: unknown;

  constructor(call: Call, way: Way) {
    this.#call = call;
    this.#way = way;
    this.#retries = new Retries({ ...RETRY, until: this.#lifetime });
  }

  /** Resolves when the server or the caller has ended the stream. A server in the same process does not notice that the proxy is closed. */
  async run(): Promise<Outcome> {
    const { closing } = this.#way;
    const end = (): void => this.#lifetime.end(closed());
    const forgets = [this.#call, closing].map((each) => onEnd(each, end));
    // An end that came before is not told.
    if (hasEnded(this.#call) || hasEnded(closing)) end();
    try {
      const outcome = await this.#follow();
      if (hasEnded(closing) && !hasEnded(this.#call)) throw closed();
      return outcome;
    } finally {
      for (const forget of forgets) forget();
    }
  }

  async #follow(): Promise<Outcome> {
    while (await this.#retries.next()) {
      try {
        return this.#tagged(await this.#open());
      } catch (error) {
        if (this.#lifetime.ended) break;
        // The first attempt fails if the server cannot be reached. Later it may be away for a while.
        if (!this.#isActive) throw error;
        if (!this.#survives(error)) break;
      }
    }
    return this.#tagged({ resultType: 'complete' });
  }

  async #open(): Promise<Outcome> {
    const { maxAgeMs: _, ...rest } = this.#call.params;
    const params = this.#isActive ? { ...rest, cursor: this.#cursor } : this.#call.params;
    const notify: Call['notify'] = (method, told) => this.#tell(method, told);
    const { send } = await this.#way.prepare(withSignal({ ...this.#call, params, notify }, this.#lifetime));
    return send();
  }

  #tell(method: string, params: JsonObject = {}): void {
    if (hasEnded(this.#call) || !ofStreams.has(method)) return;
    const { cursor } = params;
    if (typeof cursor === 'string' || cursor === null) this.#cursor = cursor;
    if (method !== eventNotifications.active) return this.#notify(method, params);
    this.#activeAt = performance.now();
    this.#told = undefined;
    const isAgain = this.#isActive;
    this.#isActive = true;
    // Without a position, what happened in the meantime is lost.
    const isTruncated = isAgain && (params['truncated'] === true || typeof cursor !== 'string');
    if (!isAgain || isTruncated) this.#notify(method, isTruncated ? { ...params, truncated: true } : params);
  }

  /** Tells the caller why the stream was interrupted. Returns whether it is opened again. */
  #survives(thrown: unknown): boolean {
    const error = McpError.is(thrown)
      ? inDialectOf(this.#call, thrown)
      : new McpError('internal_error', 'The stream failed.');
    const isLost = connectionCodes.has(error.code);
    // A server that is busy will have room again. To clients, the end of a stream is the end of their subscription.
    const isPassing = isLost || error.code === 'overloaded';
    const livedMs = this.#activeAt === undefined ? 0 : performance.now() - this.#activeAt;
    this.#activeAt = undefined;
    if (livedMs > STABLE_MS) this.#retries.failures = 0;
    const told = isLost
      ? new McpError('connection_closed', 'The connection to the server behind this one was lost.')
      : error;
    if (told.code !== this.#told) {
      const method = isPassing ? eventNotifications.error : eventNotifications.terminated;
      this.#notify(method, { error: told.toWire(this.#call.peer.revision) });
    }
    this.#told = told.code;
    return isPassing;
  }

  #notify(method: string, params: JsonObject): void {
    const { error } = params;
    const own = isObject(error) ? { ...params, error: this.#inDialect(error) } : params;
    this.#call.notify(method, this.#tagged(own));
  }

  /** The error in a notification, with the number that the dialect of the caller has for it. */
  #inDialect(error: JsonObject): JsonObject {
    const { code } = error;
    if (typeof code !== 'number') return error;
    const { number } = inDialectOf(this.#call, new McpError('remote_error', '', { number: code }));
    return number === undefined ? error : { ...error, code: number };
  }

  /** The stream has the id of the caller's request. The server knows it by another one. */
  #tagged<T extends JsonObject>(message: T): T {
    const { _meta } = message;
    return { ...message, _meta: { ...(isObject(_meta) && _meta), [SUBSCRIPTION_ID]: this.#call.id } };
  }
}

function closed(): McpError {
  return new McpError('connection_closed', 'The stream was closed.');
}
