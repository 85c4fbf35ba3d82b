import { readSecret, signWebhook, webhookKey } from '../../../src/protocol/events/signature.js';

// The sending end of a webhook, which can do everything wrong.

export const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
export const OTHER_SECRET = 'whsec_//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=';

export interface Sent {
  readonly url?: string;
  readonly method?: string;
  readonly id?: string;
  readonly subscription?: string;
  /** The secrets to sign with. */
  readonly secrets?: readonly string[];
  /** The difference of the clocks, in seconds. */
  readonly offsetS?: number;
  /** Added to the headers; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The body as it is sent, if another one was signed. */
  readonly sentBody?: string | Uint8Array<ArrayBuffer>;
}

/** A signed request with a body: a string, or a value to print. */
export async function webhook(body: unknown, sent: Sent = {}): Promise<Request> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { url = 'https://app.example/hooks', method = 'POST', subscription = 'sub_1', offsetS = 0 } = sent;
  const { id = idOf(body), secrets = [SECRET], headers = {}, sentBody = text } = sent;
  const timestamp = Math.floor(Date.now() / 1000) + offsetS;
  const bytes = new TextEncoder().encode(text);
  const keys = await Promise.all(
    secrets.map((secret) => webhookKey(readSecret(secret) as Uint8Array<ArrayBuffer>)),
  );
  const all: Record<string, string | undefined> = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': await signWebhook({ id, timestamp, body: bytes }, keys),
    'x-mcp-subscription-id': subscription,
    ...headers,
  };
  const present = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new Request(url, { method, headers: present, ...(method !== 'GET' && { body: sentBody }) });
}

function idOf(body: unknown): string {
  const { eventId, type } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  return typeof eventId === 'string' ? eventId : `msg_${String(type)}_1`;
}
