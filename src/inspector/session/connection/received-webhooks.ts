// The webhooks that a connection has subscribed for the receiver of the inspector.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Outcome } from '../../../protocol/call.js';
import { McpError } from '../../../protocol/errors.js';
import { makeSecret } from '../../../protocol/events/signature.js';
import type { ReceivingView, WebhookReplyKind } from '../../contract/events.js';
import {
  type ArrivedWebhook,
  eventIn,
  type InboxAddress,
  type WebhookInbox,
} from '../webhooks/webhook-inbox.js';
import type { SharedParts } from './shared-parts.js';

const MAX_RECEIVING = 50;
const MAX_DATA = 4000;

/** The connection, as its webhooks need it. */
export interface WebhookOwner {
  readonly id: string;
  readonly mask: (text: string) => string;
  /** Masks a value from now on. */
  readonly learn: (secret: string) => void;
  readonly changed: () => void;
}

interface Open {
  readonly args: JsonObject;
  readonly address: InboxAddress;
  subscription: string | undefined;
  count: number;
}

export class ReceivedWebhooks {
  readonly #connection: WebhookOwner;
  readonly #shared: SharedParts;
  readonly #open = new Map<string, Open>();

  constructor(connection: WebhookOwner, shared: SharedParts) {
    this.#connection = connection;
    this.#shared = shared;
  }

  get views(): readonly ReceivingView[] {
    return [...this.#open].map(([name, { address, subscription, count }]) => ({
      ...{ name, url: address.url, count, reply: address.reply },
      ...(subscription !== undefined && { subscription }),
    }));
  }

  /** The parameters with which a type is subscribed. The receiver listens from now on, as the server asks it first. */
  async begin(name: string, args: JsonObject): Promise<JsonObject> {
    if (this.#open.size >= MAX_RECEIVING)
      throw new McpError('overloaded', `${MAX_RECEIVING} webhooks are received already. Stop one first.`);
    this.#remove(name);
    const secret = makeSecret();
    this.#connection.learn(secret);
    const address = await this.#inbox.open(secret, (arrived) => this.#take(name, arrived));
    this.#open.set(name, { args, address, subscription: undefined, count: 0 });
    this.#connection.changed();
    return { name, arguments: args, delivery: { mode: 'webhook', url: address.url, secret }, cursor: null };
  }

  /** Takes the answer of the server. */
  accepted(name: string, { id }: Outcome): void {
    const open = this.#open.get(name);
    if (open === undefined) return;
    open.subscription = typeof id === 'string' ? id.slice(0, 200) : '';
    this.#connection.changed();
  }

  /** Ends a subscription. Returns the parameters with which the server is told; undefined if there is none. */
  stop(name: string): JsonObject | undefined {
    const open = this.#remove(name);
    return open && { name, arguments: open.args, delivery: { mode: 'webhook', url: open.address.url } };
  }

  setReply(name: string, reply: WebhookReplyKind): void {
    const open = this.#open.get(name);
    if (open === undefined) throw new McpError('invalid_params', 'These webhooks are not received any more.');
    open.address.reply = reply;
    this.#connection.changed();
  }

  /** The connection is left. Later webhooks get the reply that nobody wants them. */
  end(): void {
    for (const name of [...this.#open.keys()]) this.#remove(name);
  }

  get #inbox(): WebhookInbox {
    return this.#shared.inbox;
  }

  #remove(name: string): Open | undefined {
    const open = this.#open.get(name);
    open?.address.close();
    if (this.#open.delete(name)) this.#connection.changed();
    return open;
  }

  #take(name: string, { body, ...request }: ArrivedWebhook): void {
    const open = this.#open.get(name);
    if (open === undefined) return;
    open.count++;
    const { timestamp, data } = eventIn(body);
    const text = this.#connection.mask(JSON.stringify(isObject(data) ? data : {}));
    this.#shared.tell({
      ...{ connection: this.#connection.id, via: 'webhook' as const, name, eventId: request.id },
      ...{ timestamp: timestamp.slice(0, 60), request },
      ...{ data: text.slice(0, MAX_DATA), isCut: text.length > MAX_DATA },
    });
    this.#connection.changed();
  }
}
