import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readSecret, verifyWebhook, webhookKey } from '../../../src/protocol/events/signature.js';

/** A message that a receiver got. */
export interface ReceivedMessage {
  readonly id: string;
  readonly subscription: string;
  readonly timestamp: number;
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
  readonly raw: Uint8Array;
  readonly body: Record<string, unknown>;
  /** The time of arrival, on a monotonic clock. */
  readonly at: number;
  /** Whether one of the signatures belongs to this secret. */
  readonly isSignedWith: (secret: string) => Promise<boolean>;
}

/** A receiver of webhooks over http on this computer, which behaves as it is told. */
export interface Receiver {
  readonly origin: string;
  /** The address of a path. */
  readonly url: (path?: string) => string;
  /** All messages, challenges included. */
  readonly messages: ReceivedMessage[];
  /** The events alone. */
  readonly events: () => readonly ReceivedMessage[];
  /** The envelopes of a type. */
  readonly envelopes: (type: string) => readonly ReceivedMessage[];
  /** Replies to a message. Without a status, the receiver echoes challenges, and accepts everything else. */
  answer: (message: ReceivedMessage, response: ServerResponse) => unknown;
  readonly close: () => Promise<void>;
}

/** Echoes a challenge, and accepts everything else. */
export function accept({ body }: ReceivedMessage, response: ServerResponse): void {
  if (body['type'] === 'verification') response.end(JSON.stringify({ challenge: body['challenge'] }));
  else response.writeHead(204).end();
}

/** A secret of 32 equal bytes. */
export function secretOf(byte: number): string {
  return `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
}

/** Starts a receiver. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const messages: ReceivedMessage[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = new Uint8Array(Buffer.concat(chunks));
      const id = String(request.headers['webhook-id']);
      const timestamp = Number(request.headers['webhook-timestamp']);
      const message: ReceivedMessage = {
        ...{ id, timestamp, raw, headers: request.headers, path: String(request.url) },
        subscription: String(request.headers['x-mcp-subscription-id']),
        body: request.method === 'POST' ? JSON.parse(Buffer.from(raw).toString()) : {},
        at: performance.now(),
        async isSignedWith(secret) {
          const key = await webhookKey(readSecret(secret) as Uint8Array<ArrayBuffer>);
          const signatures = String(request.headers['webhook-signature']);
          return verifyWebhook({ id, timestamp, body: raw }, signatures, [key]);
        },
      };
      messages.push(message);
      receiver.answer(message, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: Receiver = {
    origin,
    messages,
    url: (path = '/hook') => origin + path,
    events: () => messages.filter(({ body }) => body['eventId'] !== undefined),
    envelopes: (type) => messages.filter(({ body }) => body['type'] === type),
    answer: accept,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
