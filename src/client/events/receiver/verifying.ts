// Verifies the signature of a webhook, before anything else is looked at.

import { BoundedMap } from '../../../async/bounded-map.js';
import {
  readSecret,
  verifyWebhook,
  type WebhookKey,
  webhookKey,
} from '../../../protocol/events/signature.js';
import { MAX_CLOCK_SKEW_MS, webhookHeaders } from '../../../protocol/events/wire.js';
import type { WebhookRequest } from './model.js';

/** The headers of a webhook. */
export interface WebhookHead {
  readonly id: string;
  readonly timestamp: number;
  readonly signature: string;
  /** The id of the subscription. */
  readonly subscription: string;
}

const MAX_HEADER = 1024;
const MAX_SIGNATURE = 4096;
/** The keys that are kept in memory, since importing one takes longer than verifying with it. */
const MAX_KEYS = 1000;

/** The headers of a webhook; undefined if one is missing or malformed, or if the message is too old or from the future. */
export function readHead(request: WebhookRequest): WebhookHead | undefined {
  const id = request.header(webhookHeaders.id);
  const signature = request.header(webhookHeaders.signature);
  const subscription = request.header(webhookHeaders.subscription);
  const time = request.header(webhookHeaders.timestamp);
  if (!isText(id, MAX_HEADER) || !isText(subscription, MAX_HEADER) || !isText(signature, MAX_SIGNATURE))
    return undefined;
  if (time === undefined || !/^\d{1,12}$/.test(time)) return undefined;
  const timestamp = Number(time);
  if (Math.abs(Date.now() - timestamp * 1000) > MAX_CLOCK_SKEW_MS) return undefined;
  return { id, timestamp, signature, subscription };
}

function isText(value: string | undefined, most: number): value is string {
  return value !== undefined && value !== '' && value.length <= most;
}

/** Verifies bodies with secrets in their written form. */
export class Verifier {
  readonly #keys = new BoundedMap<string, Promise<WebhookKey>>(MAX_KEYS);

  async verify(head: WebhookHead, body: string, secrets: readonly string[]): Promise<boolean> {
    const keys = await Promise.all(secrets.flatMap((secret) => this.#keyOf(secret) ?? []));
    // A body that was not UTF-8 has other bytes now, and does not verify.
    return (
      keys.length > 0 &&
      verifyWebhook({ ...head, body: new TextEncoder().encode(body) }, head.signature, keys)
    );
  }

  #keyOf(secret: string): Promise<WebhookKey> | undefined {
    const known = this.#keys.get(secret);
    if (known !== undefined) return known;
    const bytes = readSecret(secret);
    if (bytes === undefined) return undefined;
    const key = webhookKey(bytes);
    this.#keys.set(secret, key);
    return key;
  }
}
