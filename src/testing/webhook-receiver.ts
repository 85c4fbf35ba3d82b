// A receiver of webhooks that fails as it is told.

import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '../client/model/client.js';
import type { JsonObject } from '../jsonrpc/message.js';
import { tryParseObject } from '../jsonrpc/try-parse.js';
import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import { eventMethods } from '../protocol/events/offer.js';
import { makeSecret, readSecret, verifyWebhook, webhookKey } from '../protocol/events/signature.js';
import { webhookHeaders } from '../protocol/events/wire.js';

/** A request that a receiver of a test got. */
export interface ReceivedWebhook {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The header `X-MCP-Subscription-Id`. */
  readonly subscription: string;
  /** The number of requests with this id so far, this one included. */
  readonly attempt: number;
  /** The body; empty if it is not a JSON object. */
  readonly body: JsonObject;
  /** The path of the request, with its query. */
  readonly path: string;
  /** The headers, with their names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Whether one of the signatures belongs to a secret. */
  readonly isSignedWith: (secret: string) => Promise<boolean>;
}

/**
 * The reply of a receiver: a status, or a whole reply. `silent` never replies, `endless` replies with a body that never ends, and `reset`
 * breaks the connection.
 */
export type WebhookReply =
  | number
  | 'silent'
  | 'endless'
  | 'reset'
  | {
      /** The status. */
      readonly status: number;
      /** The headers, such as the `location` of a redirect. Default: none. */
      readonly headers?: Readonly<Record<string, string>>;
      /** The body. Default: empty. */
      readonly body?: string;
    };

/** The options of `webhookReceiver`. */
export interface WebhookReceiverOptions {
  /**
   * Decides the reply to a request, now or when its promise resolves. Undefined: the receiver returns a challenge, and accepts everything
   * else. Default: always undefined.
   */
  readonly reply?: (webhook: ReceivedWebhook) => WebhookReply | undefined | Promise<WebhookReply | undefined>;
}

/** A subscription of a receiver. */
export interface SubscribedWebhook {
  /** The id of the subscription, as webhooks have it in `X-MCP-Subscription-Id`. */
  readonly id: string;
  /** The secret that webhooks are signed with, for `isSignedWith`. */
  readonly secret: string;
  /** The result of `events/subscribe`: the cursor, and the time until which the subscription must be refreshed. */
  readonly result: JsonObject;
  /** Ends the subscription. */
  readonly unsubscribe: () => Promise<void>;
}

/** A receiver of webhooks on this computer. */
export interface WebhookReceiver extends AsyncDisposable {
  /** The address, on the loopback interface. Any path below it, and any query, is the same receiver. */
  readonly url: string;
  /** All requests so far. */
  readonly received: readonly ReceivedWebhook[];
  /**
   * Subscribes the receiver to a type of events, with a secret of its own. The server must allow the address: `webhooks: { privateHosts:
   * [hooks.url] }`. Default of `args`: none.
   */
  readonly subscribe: (
    client: Pick<Client, 'request'>,
    name: string,
    args?: object,
  ) => Promise<SubscribedWebhook>;
  /** Resolves with the first request that fits, also one of the past. */
  readonly next: (fits: (webhook: ReceivedWebhook) => boolean) => Promise<ReceivedWebhook>;
  /** Closes the receiver and its connections. */
  readonly close: () => Promise<void>;
}

const optionTable = { reply: 'function' } as const satisfies OptionTable<WebhookReceiverOptions>;

/**
 * Starts a receiver of webhooks on loopback that replies as a test says, over HTTP without TLS.
 * @example
 * ```ts
 * await using hooks = await webhookReceiver({ reply: ({ attempt }) => (attempt < 3 ? 503 : 204) });
 * await subscribe(`${hooks.url}/hook`);
 * const delivered = await hooks.next(({ attempt }) => attempt === 3);
 * ```
 */
export async function webhookReceiver(options: WebhookReceiverOptions = {}): Promise<WebhookReceiver> {
  const { reply = () => undefined } = readOptions('webhookReceiver', options, optionTable);
  const received: ReceivedWebhook[] = [];
  const waiting = new Set<(webhook: ReceivedWebhook) => void>();
  const server = createServer(async (req, res) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const webhook = toWebhook(req.url ?? '/', req.headers, { bytes: Buffer.concat(chunks), received });
    received.push(webhook);
    for (const tell of waiting) tell(webhook);
    send(res, (await reply(webhook)) ?? defaultReply(webhook));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> => closeServer(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    received,
    async subscribe(client, name, args = {}) {
      const secret = makeSecret();
      const key = { name, arguments: args };
      const delivery = { mode: 'webhook', url: `${url}/hook`, secret };
      const result = await client.request(eventMethods.subscribe, { ...key, delivery, cursor: null });
      return {
        ...{ id: String(result['id']), secret, result },
        async unsubscribe() {
          await client.request(eventMethods.unsubscribe, {
            ...key,
            delivery: { mode: 'webhook', url: delivery.url },
          });
        },
      };
    },
    next: (fits) =>
      new Promise((resolve) => {
        const past = received.find(fits);
        if (past !== undefined) return resolve(past);
        const tell = (webhook: ReceivedWebhook): void => {
          if (!fits(webhook)) return;
          waiting.delete(tell);
          resolve(webhook);
        };
        waiting.add(tell);
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Arrived {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly received: readonly ReceivedWebhook[];
}

function toWebhook(
  path: string,
  headers: IncomingHttpHeaders,
  { bytes, received }: Arrived,
): ReceivedWebhook {
  const header = (name: string): string => String(headers[name] ?? '');
  const id = header(webhookHeaders.id);
  return {
    id,
    subscription: header(webhookHeaders.subscription),
    attempt: received.filter((earlier) => earlier.id === id).length + 1,
    body: tryParseObject(new TextDecoder().decode(bytes)) ?? {},
    path,
    headers,
    async isSignedWith(secret) {
      const key = readSecret(secret);
      if (key === undefined) return false;
      const timestamp = Number(header(webhookHeaders.timestamp));
      const signature = header(webhookHeaders.signature);
      return verifyWebhook({ id, timestamp, body: bytes }, signature, [await webhookKey(key)]);
    },
  };
}

/** The reply of a receiver that works. */
function defaultReply({ body: { type, challenge } }: ReceivedWebhook): WebhookReply {
  return type === 'verification' ? { status: 200, body: JSON.stringify({ challenge }) } : 204;
}

function send(res: ServerResponse, reply: WebhookReply): void {
  if (reply === 'silent') return;
  if (reply === 'reset') return void res.destroy();
  if (reply === 'endless') {
    res.writeHead(200);
    const write = (): void => {
      while (!res.destroyed && res.write('x'.repeat(65_536)));
    };
    res.on('drain', write);
    return write();
  }
  const { status, headers = {}, body } = typeof reply === 'number' ? { status: reply } : reply;
  res.writeHead(status, headers).end(body);
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
