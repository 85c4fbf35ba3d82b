// The entry `fullmcp/events`: receives webhooks, the events of servers and those of third parties.

import type { NodeWebhookHandler } from './adapters/node/server/webhook-handler.js';
import type { ReceiverOptions, SubscribeWebhook } from './client/events/receiver/model.js';
import { makeReceiver } from './client/events/receiver/receiver.js';
import { type EventFromOptions, intake } from './extensions/events/intake/intake.js';
import type { WebhookRequest } from './protocol/events/receiving.js';
import type { EmitAny, EmitOptions, Emitted } from './server/state/emitting.js';
import { type RequestContext, webIncoming } from './transports/http/server/web.js';

export type { NodeWebhookHandler } from './adapters/node/server/webhook-handler.js';
export type {
  ReceiverOptions,
  SubscribeWebhook,
  SubscribeWebhookOptions,
  SubscribingClient,
  WebhookSource,
  WebhookSubscription,
} from './client/events/receiver/model.js';
export type { AnyEvent, EventStore, ReceivedEvent } from './client/model/events.js';
export type { EventFromOptions, IncomingWebhook, WebhookEvent } from './extensions/events/intake/intake.js';

/** A receiver of webhooks: a handler for runtimes with `Request` and `Response`, with one for Node. */
export interface EventReceiver<S = unknown> {
  /** Replies to a webhook. Never rejects: a failure is a reply. */
  (request: Request, context?: RequestContext): Promise<Response>;
  /**
   * Replies to a webhook on `node:http`, Express and other frameworks that expose its `req` and `res`. A body that a framework has
   * parsed as JSON cannot be verified: mount the receiver before the body parser.
   */
  readonly node: NodeWebhookHandler;
  /**
   * Subscribes to a type of events of a server, which then sends them to this receiver. The receiver must be reachable at `url`: the
   * server asks it whether it wants the events. The subscription is refreshed until it is closed; after a restart, subscribe
   * again with the same arguments and the same store, and it continues.
   */
  readonly subscribe: SubscribeWebhook<S>;
  /** Stops refreshing all subscriptions. The servers keep them until they expire. */
  readonly close: () => Promise<void>;
}

/**
 * Makes a receiver of webhooks with events. It verifies each message before anything else, answers the server's question whether it wants
 * the events, and passes each event on once.
 * @example
 * ```ts
 * const hooks = receiver({ store, onEvent: ({ name, data }) => save(name, data) });
 * app.post('/hooks', hooks.node);
 * await hooks.subscribe(client, 'ticket_changed', { queue: 'billing' }, { url: 'https://app.example.com/hooks' });
 * ```
 */
export function receiver<S = unknown>(options: ReceiverOptions<S>): EventReceiver<S> {
  const core = makeReceiver(options as ReceiverOptions);
  return Object.assign(handlerOf(core), {
    subscribe: core.subscribe as SubscribeWebhook<S>,
    close: core.close,
  });
}

/** A handler of the webhooks of third parties, for runtimes with `Request` and `Response`, with one for Node. */
export interface WebhookIntake {
  /** Replies to a webhook. Never rejects: a failure is a reply. */
  (request: Request, context?: RequestContext): Promise<Response>;
  /**
   * Replies to a webhook on `node:http`, Express and other frameworks that expose its `req` and `res`. A body that a framework has
   * parsed as JSON cannot be verified: mount the handler before the body parser.
   */
  readonly node: NodeWebhookHandler;
}

/** A server whose events webhooks become. */
export interface EmittingServer<E> {
  /** Emits an event. */
  readonly emit: (name: never, data: never, options?: EmitOptions) => Promise<Emitted>;
  /** For types only: the types of events. */
  readonly '~events'?: E;
}

/**
 * Makes events of the webhooks of a third party: verifies the signature, asks the program which event a webhook stands for, and replies when
 * the event is kept. A webhook that is sent twice is one event.
 * @example
 * ```ts
 * const github = eventFrom(server, {
 *   sender: 'github',
 *   secret: process.env.GITHUB_SECRET,
 *   event: ({ type, body }) => (type === 'issues' ? { name: 'issue_changed', data: issueOf(body) } : undefined),
 * });
 * app.post('/github', github.node);
 * ```
 */
export function eventFrom<E>(server: EmittingServer<E>, options: EventFromOptions<E>): WebhookIntake {
  const emit: EmitAny = (name, data, more) => server.emit(name as never, data as never, more);
  return handlerOf(intake(emit, options as unknown as EventFromOptions));
}

function handlerOf(core: {
  readonly answer: (request: WebhookRequest) => Promise<void>;
  readonly problem: (message: string, cause?: unknown) => void;
}): WebhookIntake {
  // Loaded with the first request on Node: other runtimes do not have it.
  let nodeHandler: Promise<NodeWebhookHandler> | undefined;
  function handle(request: Request, context?: RequestContext): Promise<Response> {
    const { incoming, response } = webIncoming(request, context);
    void core.answer(incoming);
    return response;
  }
  return Object.assign(handle, {
    node: ((req, res) => {
      nodeHandler ??= import('./adapters/node/server/webhook-handler.js').then(({ nodeWebhooks }) =>
        nodeWebhooks(core),
      );
      void nodeHandler.then((answer) => answer(req, res));
    }) satisfies NodeWebhookHandler,
  });
}
