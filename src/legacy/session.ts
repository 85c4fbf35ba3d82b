import { isObject, type JsonObject, type RequestMessage } from '../jsonrpc/message.js';
import type { Call, Dispatch, Outcome, Peer } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import { has, newestSession, sessionRevisions } from '../protocol/features.js';
import { Lifetime, withSignal } from '../protocol/lifetime.js';
import { isLogLevel, type LogLevel } from '../protocol/log-level.js';
import { SERVER_INFO } from '../protocol/meta.js';
import { knows } from '../protocol/methods.js';
import type { ClientCapabilities, Implementation, ServerCapabilities } from '../protocol/model.js';
import type { Revision } from '../protocol/revisions.js';
import { forwardRequest, type Way } from './forward.js';
import { projectNotification } from './projection.js';
import { Questions } from './questions.js';
import { knowingTasks, taskCapabilities } from './tasks.js';

/** What a client said in its handshake. */
export interface Handshake {
  readonly revision: Revision;
  readonly client: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

const MAX_SUBSCRIPTIONS = 1000;

/** Reads `initialize`. An unknown version is answered with the newest that a session can have. */
export function readHandshake(params: JsonObject | undefined): Handshake {
  const { protocolVersion, capabilities, clientInfo } = params ?? {};
  if (typeof protocolVersion !== 'string') {
    throw new McpError('invalid_params', 'initialize needs a string "protocolVersion"');
  }
  return {
    revision: sessionRevisions.find((revision) => revision === protocolVersion) ?? newestSession,
    client: isObject(clientInfo) ? (clientInfo as unknown as Implementation) : undefined,
    capabilities: isObject(capabilities) ? (capabilities as ClientCapabilities) : {},
  };
}

/**
 * A session of the years 2024 and 2025 in front of a Dispatch that knows none: it remembers what the client said once and
 * stamps it on every call.
 */
export class Session {
  readonly handshake: Handshake;
  readonly questions: Questions;
  readonly #dispatch: Dispatch;
  #logLevel: LogLevel = 'info';
  #uris: Set<string> | undefined;
  #listening: Lifetime | undefined;
  #notify: ((method: string, params?: JsonObject) => void) | undefined;

  constructor(handshake: Handshake, dispatch: Dispatch, questions: Questions = new Questions()) {
    this.handshake = handshake;
    this.#dispatch = dispatch;
    this.questions = questions;
  }

  get revision(): Revision {
    return this.handshake.revision;
  }

  get peer(): Peer {
    const { revision, client, capabilities } = this.handshake;
    return { revision, client, capabilities, logLevel: this.#logLevel };
  }

  /** The result of `initialize`: what the server can do, in the words of the session's revision. */
  async initialize(): Promise<string> {
    const discovered = await this.#discover();
    const { capabilities, instructions, _meta } = discovered;
    const serverInfo = isObject(_meta) ? _meta[SERVER_INFO] : undefined;
    const known = has(this.revision, 'coreTasks')
      ? taskCapabilities(capabilities as JsonObject)
      : (capabilities as JsonObject);
    const { completions, ...older } = known;
    return JSON.stringify({
      protocolVersion: this.revision,
      capabilities: has(this.revision, 'completionsCapability') ? known : older,
      serverInfo,
      ...(instructions !== undefined && { instructions }),
    });
  }

  /** Answers a request of this session with the JSON of a result. */
  async answer(message: RequestMessage, way: Way): Promise<string> {
    const { method, params = {} } = message;
    if (!knows(this.revision, method))
      throw new McpError('method_not_found', `Method not found: ${method.slice(0, 128)}`);
    switch (method) {
      case 'ping':
        return '{}';
      case 'logging/setLevel':
        this.#logLevel = readLevel(params['level']);
        return '{}';
      case 'resources/subscribe':
        return this.#subscribe(readUri(params));
      case 'resources/unsubscribe':
        if (this.#uris?.delete(readUri(params))) this.#listen();
        return '{}';
      default:
        return forwardRequest(message, way, {
          peer: this.peer,
          questions: this.questions,
          nextChange: (taskId, ready, signal) => this.#nextChange(taskId, ready, signal),
        });
    }
  }

  // Resolves with the next change of a task. The subscription is open before `ready` looks, so that none is missed.
  async #nextChange(taskId: string, ready: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    const lifetime = new Lifetime();
    const over = (): void => lifetime.end(new McpError('cancelled', 'Enough was seen'));
    signal.addEventListener('abort', over, { once: true });
    const listening = this.#dispatch({
      id: 'session',
      method: 'subscriptions/listen',
      params: { notifications: { taskIds: [taskId] } },
      peer: knowingTasks(this.peer),
      signal: lifetime.signal,
      notify: (method) => {
        if (method === 'notifications/tasks') over();
        else ready().then((enough) => enough && over(), over);
      },
    });
    await listening.finally(() => signal.removeEventListener('abort', over));
    if (signal.aborted) throw new McpError('cancelled', 'The call was ended');
  }

  async #subscribe(uri: string): Promise<string> {
    const { capabilities } = await this.#discover();
    if (!(capabilities as ServerCapabilities).resources?.subscribe) {
      throw new McpError('method_not_found', 'This server does not announce changes of resources');
    }
    this.#uris ??= new Set();
    if (this.#uris.size >= MAX_SUBSCRIPTIONS) {
      throw new McpError(
        'invalid_params',
        `At most ${MAX_SUBSCRIPTIONS} resources can be subscribed to in one session`,
      );
    }
    this.#uris.add(uri);
    this.#listen();
    return '{}';
  }

  /** From now on changes go to `notify`: there is a stream for them. */
  attach(notify: (method: string, params?: JsonObject) => void): void {
    this.#notify = notify;
    this.#listen();
  }

  /** There is no stream any more, or the session is over. */
  detach(): void {
    this.#notify = undefined;
    this.#listening?.end(new McpError('connection_closed', 'The session has no stream'));
    this.#listening = undefined;
  }

  // The old way of subscribing is one modern subscription that the session holds open; a changed wish is a new one.
  #listen(): void {
    this.#listening?.end(new McpError('cancelled', 'The subscription was changed'));
    this.#listening = undefined;
    if (this.#notify === undefined) return;
    const lifetime = new Lifetime();
    this.#listening = lifetime;
    const call: Omit<Call, 'signal'> = {
      id: 'session',
      method: 'subscriptions/listen',
      params: {
        notifications: {
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: [...(this.#uris ?? [])],
        },
      },
      peer: this.peer,
      notify: (method, params) => {
        if (lifetime.ended || method === 'notifications/subscriptions/acknowledged') return;
        this.#notify?.(method, projectNotification(params));
      },
    };
    // A server without anything to announce answers at once; one that fails has told its log why.
    this.#dispatch(withSignal(call, lifetime)).catch(() => undefined);
  }

  #discover(): Promise<Outcome> {
    const call = {
      id: 'session',
      method: 'server/discover',
      params: {},
      peer: this.peer,
      notify: () => undefined,
    };
    return this.#dispatch(withSignal(call, new Lifetime()));
  }
}

function readLevel(level: unknown): LogLevel {
  if (isLogLevel(level)) return level;
  throw new McpError('invalid_params', 'params.level is not a log level');
}

function readUri(params: JsonObject): string {
  if (typeof params['uri'] === 'string') return params['uri'];
  throw new McpError('invalid_params', 'params.uri must be a string');
}
