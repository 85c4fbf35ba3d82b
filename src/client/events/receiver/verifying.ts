// Verifies the signature of a webhook, before anything else is looked at.

import { BoundedMap } from '../../../async/bounded-map.js';
import { headerOf, readStandardHead, type WebhookRequest } from '../../../protocol/events/receiving.js';
import {
  isFresh,
  readSecret,
  verifyWebhook,
  type WebhookKey,
  webhookKey,
} from '../../../protocol/events/signature.js';
import { webhookHeaders } from '../../../protocol/events/wire.js';

/** The headers of a webhook. */
export interface WebhookHead {
  readonly id: string;
  readonly timestamp: number;
  readonly signature: string;
  /** The id of the subscription. */
  readonly subscription: string;
}

/** The keys that are kept in memory, since importing one takes longer than verifying with it. */
const MAX_KEYS = 1000;

/** The headers of a webhook; undefined if one is missing or malformed, or if the message is too old or from the future. */
export function readHead(request: WebhookRequest): WebhookHead | undefined {
  const head = readStandardHead(request);
  const subscription = headerOf(request, webhookHeaders.subscription);
  if (head === undefined || subscription === undefined || !isFresh(head.timestamp)) return undefined;
  return { ...head, subscription };
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
