// A receiver of webhooks on this computer, for trying those of a server: it shows each request, and replies as it is told.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BoundedMap } from '../../../async/bounded-map.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { tryParseObject } from '../../../jsonrpc/try-parse.js';
import { McpError } from '../../../protocol/errors.js';
import {
  readSecret,
  verifyWebhook,
  type WebhookKey,
  webhookKey,
} from '../../../protocol/events/signature.js';
import { webhookHeaders } from '../../../protocol/events/wire.js';
import type { WebhookReplyKind, WebhookRequestView } from '../../contract/events.js';

/** The port, so that a server can allow the address once. If it is taken, another one is. */
const PORT = 7411;
/** Twice as much as a server may send. */
const MAX_BYTES = 524_288;
const MAX_CONNECTIONS = 64;
const MAX_IDS = 1000;
/** A server gives up an attempt after 10 s. */
const SLOW_MS = 12_000;
/** The time for which a signature is accepted, before and after. */
const MAX_SKEW_S = 300;

const STATUS: Readonly<Record<Exclude<WebhookReplyKind, 'slow'>, number>> = {
  accept: 204,
  fail: 500,
  gone: 410,
};
const ENVELOPES: readonly unknown[] = ['verification', 'gap', 'terminated'];

/** A request that has arrived. */
export interface ArrivedWebhook extends WebhookRequestView {
  readonly body: JsonObject;
}

/** The address of one subscription. */
export interface InboxAddress {
  /** Changes what its requests are replied with. */
  reply: WebhookReplyKind;
  readonly url: string;
  readonly close: () => void;
}

interface Place {
  readonly key: WebhookKey;
  readonly address: InboxAddress;
  readonly onRequest: (arrived: ArrivedWebhook) => void;
  /** The attempts so far, by the id of the message. */
  readonly attempts: BoundedMap<string, number>;
}

/** Listens from the first subscription on. */
export class WebhookInbox {
  readonly #places = new Map<string, Place>();
  readonly #slow = new Set<NodeJS.Timeout>();
  #listening: Promise<Server> | undefined;

  /** The origin, which a server on this computer has to allow. */
  async origin(): Promise<string> {
    this.#listening ??= listen((req, res) => void this.#receive(req, res));
    const { port } = (await this.#listening).address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** Makes an address that nobody can guess, for the webhooks that are signed with a secret. */
  async open(secret: string, onRequest: Place['onRequest']): Promise<InboxAddress> {
    const token = randomBytes(16).toString('base64url');
    const bytes = readSecret(secret);
    if (bytes === undefined) throw new McpError('invalid_params', 'The secret of a webhook is malformed.');
    const address: InboxAddress = {
      reply: 'accept',
      url: `${await this.origin()}/${token}`,
      close: () => void this.#places.delete(token),
    };
    const key = await webhookKey(bytes);
    this.#places.set(token, { key, address, onRequest, attempts: new BoundedMap(MAX_IDS) });
    return address;
  }

  async close(): Promise<void> {
    for (const timer of this.#slow) clearTimeout(timer);
    const server = await this.#listening?.catch(() => undefined);
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  async #receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const place = this.#places.get((req.url ?? '').slice(1).split('?', 1)[0] ?? '');
    // A subscription that is over: the server need not try again.
    if (place === undefined || req.method !== 'POST') return void res.writeHead(410).end();
    const bytes = await bodyOf(req);
    if (bytes === undefined) return void res.writeHead(413, { connection: 'close' }).end();
    const { address, attempts, key, onRequest } = place;
    const body = tryParseObject(new TextDecoder().decode(bytes)) ?? {};
    const header = (name: string): string => String(req.headers[name] ?? '');
    const id = header(webhookHeaders.id);
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    const isChallenge = body['type'] === 'verification';
    const { reply } = address;
    const isSigned = await isSignedWith(key, { id, bytes, header });
    onRequest({
      kind: ENVELOPES.includes(body['type']) ? (body['type'] as WebhookRequestView['kind']) : 'event',
      id: id.slice(0, 200),
      attempt,
      isSigned,
      reply: isChallenge ? 'accept' : reply,
      headers: headersOf(req),
      body,
    });
    if (isChallenge) return void res.writeHead(200).end(JSON.stringify({ challenge: body['challenge'] }));
    if (reply !== 'slow') return void res.writeHead(STATUS[reply]).end();
    const timer = setTimeout(() => {
      this.#slow.delete(timer);
      res.writeHead(204).end();
    }, SLOW_MS);
    this.#slow.add(timer);
  }
}

async function listen(handle: (req: IncomingMessage, res: ServerResponse) => void): Promise<Server> {
  for (const port of [PORT, 0]) {
    const server = createServer(handle);
    server.maxConnections = MAX_CONNECTIONS;
    const isListening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isListening) return server;
  }
  throw new McpError('connect_failed', 'The inspector cannot listen for webhooks on this computer.');
}

/** The body; undefined if it is too large or its connection broke. */
async function bodyOf(req: IncomingMessage): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

async function isSignedWith(
  key: WebhookKey,
  {
    id,
    bytes,
    header,
  }: {
    readonly id: string;
    readonly bytes: Buffer<ArrayBuffer>;
    readonly header: (name: string) => string;
  },
): Promise<boolean> {
  const timestamp = Number(header(webhookHeaders.timestamp));
  if (!Number.isSafeInteger(timestamp) || Math.abs(Date.now() / 1000 - timestamp) > MAX_SKEW_S) return false;
  return verifyWebhook({ id, timestamp, body: bytes }, header(webhookHeaders.signature), [key]);
}

/** The headers that a webhook has, and no others of a stranger. */
function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const names = ['content-type', 'user-agent', ...Object.values(webhookHeaders)];
  return Object.fromEntries(
    names.flatMap((name) =>
      headers[name] === undefined ? [] : [[name, String(headers[name]).slice(0, 500)]],
    ),
  );
}

/** The parts of an event in the body of a webhook. */
export function eventIn(body: JsonObject): { readonly timestamp: string; readonly data: unknown } {
  const { timestamp, data } = body;
  return { timestamp: typeof timestamp === 'string' ? timestamp : '', data: isObject(data) ? data : body };
}
