import { unlessAborted } from '../../async/abort.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { LinkEvents } from '../../protocol/link.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import {
  ACKNOWLEDGED,
  grant,
  includes,
  isEmpty,
  offersOf,
  reportAllChanged,
} from '../../protocol/model/subscriptions.js';
import { type HandshakeResult, isErrorResponse } from './handshake.js';
import type { Send } from './renewed-session.js';

// Subscriptions over a session.

type OnNotification = (method: string, params: JsonObject | undefined) => void;

interface Listener {
  readonly onNotification: OnNotification;
  readonly granted: SubscriptionFilter;
  /** Whether the subscription is acknowledged. Changes before that need not be reported. */
  isAcknowledged: boolean;
}

/** A resource that at least one listener subscribes to. */
interface UriWatch {
  listeners: number;
  /** Whether the server announces changes of the resource. Resolves after all requests about it so far. */
  announced: Promise<boolean>;
}

/** The number of changes that may wait for the acknowledgement. */
const MAX_EARLY = 1000;

/** Implements `subscriptions/listen` in the session era, which has one stream for all changes, and `resources/subscribe`. */
export class SessionListening {
  readonly #send: Send;
  readonly #problem: LinkEvents['problem'];
  readonly #open = new Map<AbortController, Listener>();
  readonly #uris = new Map<string, UriWatch>();
  #closeReason: McpError | undefined;

  constructor(send: Send, problem: LinkEvents['problem']) {
    this.#send = send;
    this.#problem = problem;
  }

  /** Acknowledges the subscription when the server has accepted it. Listens until the call ends. */
  async listen(call: Call, handshake: HandshakeResult): Promise<Outcome> {
    if (this.#closeReason !== undefined) throw this.#closeReason;
    const { signal, notify } = call;
    const filter = readFilter(call.params);
    // Tasks are not granted: their changes are passed on, but a server of 2025-11-25 need not announce any.
    const granted = grant(filter, offersOf(handshake.discovered.capabilities));
    const uris = [...new Set(granted.resourceSubscriptions)];
    const taskIds = handshake.tasks ? (filter.taskIds ?? []) : [];
    const isNothing = (): boolean => isEmpty(granted) && taskIds.length === 0;
    const _meta = { [SUBSCRIPTION_ID]: call.id };
    // Notifications wait for the acknowledgement; only the last of each kind is kept.
    let early: Map<string, () => void> | undefined = new Map();
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    const onNotification: OnNotification = (method, params) => {
      if (!includes({ ...granted, taskIds }, method, params)) return;
      const deliver = (): void => notify(method, { ...params, _meta });
      if (early === undefined) deliver();
      else if (early.size < MAX_EARLY)
        early.set(`${method} ${params?.['uri'] ?? params?.['taskId']}`, deliver);
    };
    const listener: Listener = { onNotification, granted, isAcknowledged: false };
    this.#open.set(ending, listener);
    for (const uri of uris) this.#hold(uri);
    try {
      const announced = isNothing() ? [] : await unlessAborted(this.#announced(uris), ending.signal);
      if (announced.length > 0) granted.resourceSubscriptions = announced;
      else delete granted.resourceSubscriptions;
      notify(ACKNOWLEDGED, { notifications: { ...granted }, _meta });
      listener.isAcknowledged = true;
      for (const deliver of early.values()) deliver();
      early = undefined;
      if (!isNothing()) await unlessAborted(forever(), ending.signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', end);
      this.#open.delete(ending);
      for (const uri of uris) this.#release(uri);
    }
    return { resultType: 'complete', _meta };
  }

  /** Delivers a notification to its listeners. */
  onNotification(method: string, params: JsonObject | undefined): void {
    for (const { onNotification } of this.#open.values()) onNotification(method, params);
  }

  /** Reports everything as changed: after a gap, listeners cannot know what they missed. */
  missed(): void {
    for (const { onNotification, granted, isAcknowledged } of this.#open.values())
      if (isAcknowledged) reportAllChanged(granted, (method, params) => onNotification(method, params));
  }

  /** Subscribes again on a new session, which does not have the subscriptions of the old one. */
  async restore(send: Send): Promise<void> {
    await Promise.all([...this.#uris.keys()].map((uri) => this.#subscribe(uri, send).catch(() => false)));
  }

  /** Rejects every listener with `reason`. */
  close(reason: McpError): void {
    this.#closeReason = reason;
    for (const ending of this.#open.keys()) ending.abort(reason);
  }

  // Requests about one URI are sent in order: over HTTP they may overtake each other.
  #hold(uri: string): void {
    const watch = this.#uris.get(uri) ?? { listeners: 0, announced: Promise.resolve(false) };
    this.#uris.set(uri, watch);
    watch.listeners += 1;
    watch.announced = watch.announced
      .catch(() => false)
      .then((announced) => announced || this.#subscribe(uri, this.#send));
    watch.announced.catch(() => undefined);
  }

  #release(uri: string): void {
    const watch = this.#uris.get(uri) as UriWatch;
    watch.listeners -= 1;
    if (watch.listeners > 0) return;
    watch.announced = watch.announced
      .then(async (announced) => {
        if (!announced || watch.listeners > 0) return announced;
        await this.#send('resources/unsubscribe', { uri });
        return false;
      })
      // If the request fails, that does no harm: the announcements are no longer passed on.
      .catch(() => false)
      .finally(() => {
        if (watch.listeners === 0) this.#uris.delete(uri);
      });
  }

  async #announced(uris: readonly string[]): Promise<readonly string[]> {
    // Over HTTP the stream of changes is opened beside the first request. When a request has its response, the stream is open, as
    // a rule: if it is opened later, because another process has to serve it, everything is reported as changed then.
    if (uris.length === 0) await this.#send('ping', {}).catch(() => undefined);
    const announced = await Promise.all(uris.map((uri) => this.#uris.get(uri)?.announced));
    return uris.filter((_, at) => announced[at]);
  }

  async #subscribe(uri: string, send: Send): Promise<boolean> {
    try {
      await send('resources/subscribe', { uri });
      return true;
    } catch (error) {
      if (!isErrorResponse(error)) throw error;
      this.#problem(`The server does not announce changes of ${uri}: ${error.message}`, error);
      return false;
    }
  }
}

function readFilter({ notifications }: JsonObject): SubscriptionFilter {
  if (isObject(notifications)) return notifications;
  throw new McpError('invalid_params', 'params.notifications must be an object');
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
