// The events of a client: its lists of types and its subscriptions. Loaded with the first of them.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { McpError } from '../../protocol/errors.js';
import { eventSettingsOf } from '../../protocol/events/dialects.js';
import { eventMethods } from '../../protocol/events/offer.js';
import { eventNotifications } from '../../protocol/events/wire.js';
import type { Link } from '../../protocol/link.js';
import type { CallSender } from '../calls/call-sender.js';
import type { EventHub } from '../connection/event-hub.js';
import type { Listing } from '../model/client.js';
import type { FollowedEvents, FollowOptions, ListedEvent, ReceivedEvent } from '../model/events.js';
import type { CallOptions, ClientOptions } from '../model/options.js';
import { EventCatalog } from './catalog.js';
import { toListedEvent } from './read-events.js';
import { subscribeToEvents } from './subscription.js';

export interface ClientEventsParts {
  readonly sender: Pick<CallSender, 'sendFresh' | 'closing'>;
  readonly hub: EventHub;
  readonly connection: { readonly link: Link };
  readonly list: <T>(
    method: string,
    field: string,
    capability: 'events',
    options: CallOptions | undefined,
  ) => Listing<T>;
  /** The address of the server. */
  readonly target: string;
  readonly options: Pick<ClientOptions, 'timeoutMs'>;
}

const optionTable = {
  store: 'object',
  onGap: 'function',
  signal: 'object',
} as const satisfies OptionTable<FollowOptions>;

/** The events of one client. */
export class ClientEventsOf {
  readonly #parts: ClientEventsParts;
  readonly #catalog: EventCatalog;

  constructor(parts: ClientEventsParts) {
    this.#parts = parts;
    const { hub, sender } = parts;
    this.#catalog = new EventCatalog({
      list: () => this.list(undefined),
      problem: hub.problem,
      closing: sender.closing,
    });
    hub.on('notification', ({ method }) => {
      if (method === eventNotifications.listChanged) void this.#catalog.changed();
    });
  }

  /** The types of the server. A server that does not declare events is not asked, and has none. */
  async *list(options: CallOptions | undefined): AsyncGenerator<ListedEvent, void, undefined> {
    if (!this.#isDeclared) return;
    for await (const entry of this.#parts.list<JsonObject>(eventMethods.list, 'events', 'events', options)) {
      const type = toListedEvent(entry);
      if (type === undefined) this.#parts.hub.problem('A type of events without a name was skipped');
      else yield type;
    }
  }

  /** Subscribes to a type of events. */
  async on(
    name: string,
    args: object,
    handler: (event: ReceivedEvent) => void | Promise<void>,
    options: FollowOptions = {},
  ): Promise<FollowedEvents> {
    if (!isObject(args) || typeof handler !== 'function')
      throw new McpError(
        'invalid_request',
        'client.on needs the arguments of the events, an object, and a function that handles them: client.on(name, {}, handler)',
      );
    const read = readOptions('client.on', options, optionTable);
    if (!this.#isDeclared)
      throw new McpError(
        'method_not_found',
        'The server does not declare events, so it was not asked for any',
      );
    const {
      sender,
      hub,
      target,
      options: { timeoutMs = 60_000 },
    } = this.#parts;
    return subscribeToEvents({
      sender,
      catalog: this.#catalog,
      server: target,
      name,
      args,
      handler,
      options: read,
      problem: hub.problem,
      notification: (method, params) => hub.emit('notification', { method, params }),
      timeoutMs,
    });
  }

  get #isDeclared(): boolean {
    return eventSettingsOf(this.#parts.connection.link.discovered.capabilities as JsonObject) !== undefined;
  }
}
