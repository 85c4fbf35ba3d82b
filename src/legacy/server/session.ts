import { settlesWithin } from '../../async/deadline.js';
import { Lifetime, withSignal } from '../../async/lifetime.js';
import { isObject, type JsonObject, type RequestMessage } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome, Peer } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import type { ServerCapabilities, SubscriptionFilter } from '../../protocol/model/model.js';
import { ACKNOWLEDGED, intersection, reportAllChanged } from '../../protocol/model/subscriptions.js';
import { notFound } from '../../protocol/not-found.js';
import { has } from '../../protocol/tables/features.js';
import { MAX_URI_LENGTH } from '../../protocol/tables/limits.js';
import { isLogLevel, type LogLevel } from '../../protocol/tables/log-level.js';
import { knows } from '../../protocol/tables/methods.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import { toOlderNotification } from '../shapes/to-older.js';
import { ClientRequests } from './client-requests.js';
import { forwardRequest, type SessionRequest } from './forward.js';
import type { Handshake } from './handshake.js';
import { type FactChange, initialFacts, type SessionFacts, withChange } from './session-facts.js';
import { taskCapabilities } from './tasks.js';

// A session as the server keeps it, on any transport.

/** The longest time that a subscription may take before the client has its response all the same. */
const MAX_WAIT_MS = 5000;

/** The stream that carries changes to the client: the connection itself, or the stream of the session's GET. */
export interface SessionStream {
  readonly notify: (method: string, params?: JsonObject) => void;
  /** The caller that opened the stream; changes are subscribed to as this caller. */
  readonly caller: Caller;
  /** The way of the session's calls. */
  readonly via?: Call['via'];
  /** Whether changes may have been missed since the last stream, so that everything is reported as changed once. */
  readonly afterGap?: boolean;
}

interface RestoreOptions {
  readonly isLate?: boolean;
  readonly except?: string | undefined;
}

/** Remembers a change outside of the session. Returns the facts as all processes have them. */
export type RememberFacts = (change: FactChange) => Promise<SessionFacts>;

/** The parts of a session that depend on its transport. */
export interface SessionSupport {
  /** The questions that the session asks while it waits. Default: its own. */
  readonly clientRequests?: ClientRequests;
  /** Default: the facts are lost with the session. */
  readonly remember?: RememberFacts | undefined;
}

const lists: SubscriptionFilter = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  eventsListChanged: true,
};
const allLists: JsonObject = { notifications: { ...lists } };

/**
 * A session of 2025-11-25 or older, in front of a Dispatch without sessions: the session stores the handshake and adds it to every
 * call.
 */
export class Session {
  readonly handshake: Handshake;
  readonly clientRequests: ClientRequests;
  readonly #dispatch: Dispatch;
  readonly #remember: RememberFacts | undefined;
  #facts: SessionFacts = initialFacts;
  /** The newest subscription. */
  #listening: Lifetime | undefined;
  /** The newest subscription that was acknowledged. It reports changes until the next one is acknowledged. */
  #heard: Lifetime | undefined;
  /** The changes that are reported once, when the newest subscription is acknowledged. */
  #missed: 'everything' | readonly string[] | undefined;
  #stream: SessionStream | undefined;
  /** Called when the newest subscription is acknowledged, or has ended without. */
  #onHeard: (() => void)[] = [];

  constructor(
    handshake: Handshake,
    dispatch: Dispatch,
    { clientRequests = new ClientRequests(), remember }: SessionSupport = {},
  ) {
    this.handshake = handshake;
    this.#dispatch = dispatch;
    this.clientRequests = clientRequests;
    this.#remember = remember;
  }

  get revision(): Revision {
    return this.handshake.revision;
  }

  get peer(): Peer {
    const { revision, client, capabilities } = this.handshake;
    return { revision, client, capabilities, logLevel: this.#facts.logLevel };
  }

  /** The JSON of the result of `initialize`, with the server's capabilities as the session's revision names them. */
  async initialize(forward: SessionRequest['forward']): Promise<string> {
    const { capabilities, instructions, _meta } = await this.#discover(forward);
    const serverInfo = isObject(_meta) ? _meta[SERVER_INFO] : undefined;
    const withTasks = has(this.revision, 'coreTasks')
      ? taskCapabilities(capabilities as JsonObject)
      : (capabilities as JsonObject);
    const { completions, ...older } = withTasks;
    return JSON.stringify({
      protocolVersion: this.revision,
      capabilities: has(this.revision, 'completionsCapability') ? withTasks : older,
      serverInfo,
      ...(instructions !== undefined && { instructions }),
    });
  }

  /** Responds to a request of this session with the JSON of a result. */
  async respond(message: RequestMessage, request: SessionRequest): Promise<string> {
    const { method, params = {} } = message;
    if (!knows(this.revision, method)) throw notFound('method', method);
    switch (method) {
      case 'ping':
        return '{}';
      case 'logging/setLevel':
        return this.#change({ logLevel: readLevel(params['level']) });
      case 'resources/subscribe':
        return this.#subscribe(readUri(params), request.forward);
      case 'resources/unsubscribe':
        return this.#change({ unsubscribe: readUri(params) });
      default:
        return forwardRequest(message, request, { peer: this.peer, clientRequests: this.clientRequests });
    }
  }

  async #subscribe(uri: string, forward: SessionRequest['forward']): Promise<string> {
    const { capabilities } = await this.#discover(forward);
    const { resources } = capabilities as ServerCapabilities;
    if (!resources?.subscribe) {
      throw new McpError('method_not_found', 'This server does not announce changes of resources.');
    }
    if ('isGuarded' in resources) await this.#checkAccess(uri, forward);
    return this.#change({ subscribe: uri });
  }

  // Throws the challenge if the caller lacks scopes. The subscription ends as soon as the server has granted it.
  async #checkAccess(uri: string, forward: SessionRequest['forward']): Promise<void> {
    const lifetime = new Lifetime();
    lifetime.end(replaced());
    const params = { notifications: { resourceSubscriptions: [uri] } };
    await forward(this.peer, params, { method: 'subscriptions/listen', notify: () => undefined, lifetime });
  }

  async #change(change: FactChange): Promise<string> {
    const facts = this.#remember ? await this.#remember(change) : withChange(this.#facts, change);
    // The facts may have a resource that this process did not know of, and whose changes it has not reported.
    this.restore(facts, { isLate: true, except: 'subscribe' in change ? change.subscribe : undefined });
    await this.#acknowledged();
    return '{}';
  }

  // The client counts on what it has subscribed to from its response on. A server in this process acknowledges at once, one behind a
  // proxy later.
  async #acknowledged(): Promise<void> {
    if (this.#listening === this.#heard) return;
    const heard = new Promise<void>((resolve) => {
      this.#onHeard.push(resolve);
    });
    await settlesWithin(heard, MAX_WAIT_MS, { unref: true });
  }

  #letContinue(subscription: Lifetime): void {
    if (this.#listening === subscription) for (const resolve of this.#onHeard.splice(0)) resolve();
  }

  /**
   * Sets the facts as another process, or an earlier one, has left them. `isLate`: the client may have subscribed to new resources
   * a while ago, so these are reported as changed once, with one exception.
   */
  restore(facts: SessionFacts, { isLate = false, except }: RestoreOptions = {}): void {
    const before = this.#facts.uris;
    this.#facts = facts;
    if (isSame(facts.uris, before)) return;
    const missed = isLate
      ? facts.uris?.filter((uri) => uri !== except && before?.includes(uri) !== true)
      : undefined;
    this.#listen(missed?.length ? missed : undefined);
  }

  /**
   * Makes a change that another process has made. The facts are restored later, and then they count. The client may have its
   * response already, so a resource may have changed before this process knew that the client had subscribed to it.
   */
  anticipate(change: FactChange): void {
    try {
      this.restore(withChange(this.#facts, change), { isLate: true });
    } catch {
      // There are too many subscriptions: this process does not know yet that some have ended.
    }
  }

  /** Sets the stream for changes. */
  attach(stream: SessionStream): void {
    this.detach();
    this.#stream = stream;
    this.#listen(stream.afterGap === true ? 'everything' : undefined);
  }

  /** Removes the stream: it has ended, or the session has. */
  detach(): void {
    this.#stream = undefined;
    this.#missed = undefined;
    const reason = new McpError('connection_closed', 'The session has no stream');
    this.#listening?.end(reason);
    this.#heard?.end(reason);
    this.#listening = undefined;
    this.#heard = undefined;
  }

  // A session's subscriptions are one modern subscription that the session holds open; a change replaces it. `missed` is what is
  // reported as changed once, beside what a subscription that was not acknowledged has not reported.
  #listen(missed?: 'everything' | readonly string[]): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    // One that was not acknowledged reports nothing. The one before it is needed until the new one is acknowledged.
    if (this.#listening !== this.#heard) this.#listening?.end(replaced());
    if (missed === 'everything') this.#missed = missed;
    else if (missed !== undefined && this.#missed !== 'everything')
      this.#missed = [...(this.#missed ?? []), ...missed];
    const lifetime = new Lifetime();
    this.#listening = lifetime;
    const { auth, http, isLocal } = stream.caller;
    // Members are listed one by one: an object that begins with a spread takes 350 bytes more, for each idle session.
    const call: Omit<Call, 'signal'> = {
      id: 'session',
      method: 'subscriptions/listen',
      params:
        this.#facts.uris === undefined
          ? allLists
          : { notifications: { ...lists, resourceSubscriptions: [...this.#facts.uris] } },
      peer: this.peer,
      auth,
      http,
      isLocal,
      via: stream.via,
      notify: (method, params) => {
        if (lifetime.ended) return;
        if (method !== ACKNOWLEDGED) return stream.notify(method, toOlderNotification(params));
        this.#heard?.end(replaced());
        this.#heard = lifetime;
        this.#letContinue(lifetime);
        this.#reportMissed(params?.['notifications'] as SubscriptionFilter, stream);
      },
    };
    // A server that has nothing to announce responds at once. A server that fails has logged the reason.
    this.#dispatch(withSignal(call, lifetime))
      .catch(() => undefined)
      .finally(() => this.#letContinue(lifetime));
  }

  #reportMissed(granted: SubscriptionFilter, { notify }: SessionStream): void {
    const missed = this.#missed;
    this.#missed = undefined;
    if (missed === 'everything') reportAllChanged(granted, notify);
    else if (missed !== undefined)
      reportAllChanged(intersection({ resourceSubscriptions: missed }, granted), notify);
  }

  #discover(forward: SessionRequest['forward']): Promise<Outcome> {
    return forward(this.peer, {}, { method: 'server/discover' });
  }
}

function replaced(): McpError {
  return new McpError('cancelled', 'The subscription was changed');
}

function isSame(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  return a === b || (a?.length === b?.length && a?.every((uri, at) => uri === b?.[at]) === true);
}

function readLevel(level: unknown): LogLevel {
  if (isLogLevel(level)) return level;
  throw new McpError('invalid_params', 'params.level must be a log level, from "debug" to "emergency".');
}

function readUri(params: JsonObject): string {
  const { uri } = params;
  if (typeof uri === 'string' && uri.length <= MAX_URI_LENGTH) return uri;
  throw new McpError('invalid_params', `params.uri must be a string of at most ${MAX_URI_LENGTH} characters`);
}
