// Signatures of webhooks: HMAC-SHA256, of the id, the timestamp and the body as the Standard Webhooks specification defines them, or as
// other senders do.

import { decodeBase64, encodeBase64 } from '../encoding/base64.js';
import { MAX_CLOCK_SKEW_MS, SECRET_BYTES, SECRET_PREFIX } from './wire.js';

/** The parts of a message that its signature covers. */
export interface SignedMessage {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The header `webhook-timestamp`, in seconds since 1970. */
  readonly timestamp: number;
  /** The body, exactly as it is sent. */
  readonly body: Uint8Array;
}

/** A secret that both ends of a webhook know. */
export type WebhookKey = CryptoKey;

const VERSION = 'v1';
/** A receiver looks at a few signatures: that of the secret, and those of secrets that are being replaced. */
const MAX_SIGNATURES = 16;
const encoder = new TextEncoder();

/** The bytes of a secret in its written form, `whsec_` and base64; undefined if the form or the length is wrong. */
export function readSecret(secret: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof secret !== 'string' || !secret.startsWith(SECRET_PREFIX)) return undefined;
  const bytes = decodeBase64(secret.slice(SECRET_PREFIX.length));
  return bytes !== undefined && bytes.length >= SECRET_BYTES.min && bytes.length <= SECRET_BYTES.max
    ? bytes
    : undefined;
}

/** Makes a new secret in its written form. */
export function makeSecret(): string {
  return SECRET_PREFIX + encodeBase64(crypto.getRandomValues(new Uint8Array(32)));
}

/** The key of a secret, to sign and to verify with. */
export function webhookKey(bytes: Uint8Array<ArrayBuffer>): Promise<WebhookKey> {
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

/** The header `webhook-signature`, with a signature of each key: two while a secret is being replaced. */
export async function signWebhook(message: SignedMessage, keys: readonly WebhookKey[]): Promise<string> {
  const bytes = signedBytes(message);
  const signatures = await Promise.all(keys.map((key) => crypto.subtle.sign('HMAC', key, bytes)));
  return signatures.map((each) => `${VERSION},${encodeBase64(new Uint8Array(each))}`).join(' ');
}

/** Whether one of the signatures in the header belongs to one of the keys. Takes the same time wherever a wrong one differs. */
export async function verifyWebhook(
  message: SignedMessage,
  signatures: string,
  keys: readonly WebhookKey[],
): Promise<boolean> {
  return verifySigned(
    signedBytes(message),
    signatures.split(' ', MAX_SIGNATURES).flatMap(signatureBytes),
    keys,
  );
}

/** Whether one of the signatures of bytes belongs to one of the keys. Takes the same time wherever a wrong one differs. */
export async function verifySigned(
  bytes: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array<ArrayBuffer>[],
  keys: readonly WebhookKey[],
): Promise<boolean> {
  const given = signatures.slice(0, MAX_SIGNATURES);
  const checks = given.flatMap((each) => keys.map((key) => crypto.subtle.verify('HMAC', key, each, bytes)));
  return (await Promise.all(checks)).includes(true);
}

/** Whether a message that was signed at a time, in seconds since 1970, is neither too old nor from the future. */
export function isFresh(timestamp: number): boolean {
  return Math.abs(Date.now() - timestamp * 1000) <= MAX_CLOCK_SKEW_MS;
}

function signatureBytes(signature: string): readonly Uint8Array<ArrayBuffer>[] {
  if (!signature.startsWith(`${VERSION},`)) return [];
  const bytes = decodeBase64(signature.slice(VERSION.length + 1));
  return bytes === undefined ? [] : [bytes];
}

function signedBytes({ id, timestamp, body }: SignedMessage): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(`${id}.${timestamp}.`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}
