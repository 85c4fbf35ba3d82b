// The senders of webhooks whose signatures are known, as rows of a table.

import type { JsonObject } from '../../../jsonrpc/message.js';
import {
  type ReceiverReply,
  readSeconds,
  readStandardHead,
  refused,
  signatureHeaderOf,
  type WebhookRequest,
} from '../../../protocol/events/receiving.js';
import {
  isFresh,
  readSecret,
  verifySigned,
  verifyWebhook,
  type WebhookKey,
} from '../../../protocol/events/signature.js';
import { webhookHeaders } from '../../../protocol/events/wire.js';

/** A message whose signature is to be verified. */
interface SignedRequest {
  readonly request: WebhookRequest;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The header with the signature. */
  readonly header: string;
  readonly keys: readonly WebhookKey[];
}

/** A kind of senders. */
export interface WebhookSender {
  /** The header with the signature. */
  readonly header: string;
  /** The bytes of the key that a secret stands for; undefined if the secret has another form. */
  readonly keyOf: (secret: string) => Uint8Array<ArrayBuffer> | undefined;
  /** The form of a secret, in words. */
  readonly secretForm: string;
  /** Verifies a message. Returns the reply to one that is refused, with the reason; undefined if it is genuine. */
  readonly refuse: (signed: SignedRequest) => ReceiverReply | undefined | Promise<ReceiverReply | undefined>;
  /** The id that the sender gave the message, the same in each repetition; undefined if there is none. */
  readonly idOf: (request: WebhookRequest, body: JsonObject) => unknown;
  /** The type of the message, in the words of the sender. */
  readonly typeOf: (request: WebhookRequest, body: JsonObject) => unknown;
}

const MIN_SECRET = 16;
/** The parts of a header with signatures that are looked at. */
const MAX_PARTS = 16;
const encoder = new TextEncoder();
const plainForm = `of at least ${MIN_SECRET} characters, as the sender shows it`;

function plainKey(secret: string): Uint8Array<ArrayBuffer> | undefined {
  return secret.length < MIN_SECRET ? undefined : encoder.encode(secret);
}

const stripe: WebhookSender = {
  header: 'stripe-signature',
  keyOf: plainKey,
  secretForm: plainForm,
  async refuse({ request, body, header, keys }) {
    const given = signatureHeaderOf(request, header);
    if (given === undefined) return unsigned(header);
    const parts = given.split(',', MAX_PARTS).map((part) => part.trim());
    const timestamp = readSeconds(parts.find((part) => part.startsWith('t='))?.slice(2));
    const signatures = parts.flatMap((part) => (part.startsWith('v1=') ? hexBytes(part.slice(3)) : []));
    if (timestamp === undefined || signatures.length === 0)
      return refused(
        400,
        `The header "${header}" must have a time and signatures: t=1492774577,v1=<64 hexadecimal digits>.`,
      );
    if (!isFresh(timestamp)) return stale(header);
    return (await verifySigned(joined(encoder.encode(`${timestamp}.`), body), signatures, keys))
      ? undefined
      : forged(header);
  },
  idOf: (_, { id }) => id,
  typeOf: (_, { type }) => type,
};

const github: WebhookSender = {
  header: 'x-hub-signature-256',
  keyOf: plainKey,
  secretForm: plainForm,
  async refuse({ request, body, header, keys }) {
    const given = signatureHeaderOf(request, header);
    if (given === undefined) return unsigned(header);
    const signatures = given.startsWith('sha256=') ? hexBytes(given.slice(7)) : [];
    if (signatures.length === 0)
      return refused(400, `The header "${header}" must have a signature: sha256=<64 hexadecimal digits>.`);
    return (await verifySigned(body, signatures, keys)) ? undefined : forged(header);
  },
  idOf: (request) => request.header('x-github-delivery'),
  typeOf: (request) => request.header('x-github-event'),
};

const standard: WebhookSender = {
  header: webhookHeaders.signature,
  keyOf: readSecret,
  secretForm: 'that is "whsec_" and the base64 of 24 to 64 random bytes',
  async refuse({ request, body, header, keys }) {
    if (request.header(header) === undefined) return unsigned(header);
    const head = readStandardHead(request);
    if (head === undefined)
      return refused(
        400,
        `The headers "${webhookHeaders.id}", "${webhookHeaders.timestamp}" and "${header}" must be those of Standard Webhooks.`,
      );
    if (!isFresh(head.timestamp)) return stale(webhookHeaders.timestamp);
    return (await verifyWebhook({ ...head, body }, head.signature, keys)) ? undefined : forged(header);
  },
  idOf: (request) => request.header(webhookHeaders.id),
  typeOf: (_, { type }) => type,
};

/** The senders, by the names that the option `sender` has for them. */
export const senders: Readonly<Record<'stripe' | 'github' | 'standard', WebhookSender>> = {
  stripe,
  github,
  standard,
};

const HEX = /^[0-9a-f]{64}$/i;

/** The bytes of a signature in hexadecimal digits; none if it is not one of HMAC-SHA256. */
function hexBytes(text: string): readonly Uint8Array<ArrayBuffer>[] {
  if (!HEX.test(text)) return [];
  return [Uint8Array.from({ length: 32 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16))];
}

function joined(head: Uint8Array, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

function unsigned(header: string): ReceiverReply {
  return refused(401, `The header "${header}" is missing. Set a secret for this webhook at its sender.`);
}

function forged(header: string): ReceiverReply {
  return refused(
    401,
    `The signature in "${header}" does not fit the body. Give the sender and this server the same secret, and pass the body on unchanged.`,
  );
}

function stale(header: string): ReceiverReply {
  return refused(
    400,
    `The time in "${header}" is more than five minutes away from the clock of this server. Set both clocks, and send a new signature with each attempt.`,
  );
}
