// One request to a webhook: signed when it is sent, to an address that is checked when it is dialled.

import { type SafeFetch, SafeFetchError } from '../../../../oauth/fetch/safe-fetch.js';
import { readRetryAfter } from '../../../../protocol/encoding/retry-after.js';
import { signWebhook, type WebhookKey } from '../../../../protocol/events/signature.js';
import { type CallbackReason, webhookHeaders } from '../../../../protocol/events/wire.js';
import { reasonOf, reasonOfStatus } from './reasons.js';

/** A message to a webhook. */
export interface WebhookMessage {
  readonly url: string;
  /** The header `webhook-id`: the same in every attempt. */
  readonly id: string;
  /** The id of the subscription. */
  readonly subscription: string;
  /** The body, written once, so that what is signed is what is sent. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The keys that the message is signed with: two while a secret is being replaced. */
  readonly keys: readonly WebhookKey[];
}

/** The parts that send messages. */
export interface PostParts {
  readonly fetch: SafeFetch;
  readonly signal?: AbortSignal | undefined;
  /** The clock, in milliseconds since 1970. Default: the system's. */
  readonly now?: () => number;
}

/** The result of one attempt. */
export type PostAttempt =
  | {
      readonly ok: true;
      /** The reply as text, which may have been cut off. It is only for the echo of a challenge, and is never shown. */
      readonly reply: string | undefined;
    }
  | {
      readonly ok: false;
      readonly reason: CallbackReason;
      /** Whether there was a reply. */
      readonly status?: number;
      /** The time that the receiver asked for, in milliseconds. */
      readonly retryAfterMs?: number;
      /** Whether another attempt with this message cannot succeed. */
      readonly isFinal: boolean;
    };

/** The time for one attempt, the lookup of the name and the whole reply included. */
const TIMEOUT_MS = 10_000;
const MAX_REPLY_BYTES = 64 * 1024;
/** Gone, and too large: the same message would get the same reply. The subscription continues. */
const finalStatuses: readonly number[] = [410, 413];

/** Makes one attempt to deliver a message. Rejects only with the reason of the signal. */
export async function postWebhook(message: WebhookMessage, parts: PostParts): Promise<PostAttempt> {
  const { fetch, signal, now = Date.now } = parts;
  const { id, body, keys, subscription, url } = message;
  const timestamp = Math.floor(now() / 1000);
  const signature = await signWebhook({ id, timestamp, body }, keys);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [webhookHeaders.id]: id,
        [webhookHeaders.timestamp]: String(timestamp),
        [webhookHeaders.signature]: signature,
        [webhookHeaders.subscription]: subscription,
      },
      ...{ body, signal, redirect: 'manual', timeoutMs: TIMEOUT_MS, maxBytes: MAX_REPLY_BYTES },
    });
    return response.ok
      ? { ok: true, reply: await response.text() }
      : failure(response.status, readRetryAfter(response.headers.get('retry-after') ?? undefined, now));
  } catch (error) {
    signal?.throwIfAborted();
    const status = error instanceof SafeFetchError ? error.status : undefined;
    // The reply was too long. Its status says enough.
    if (status !== undefined) return status < 300 ? { ok: true, reply: undefined } : failure(status);
    return { ok: false, reason: reasonOf(error), isFinal: false };
  }
}

function failure(status: number, retryAfterMs?: number): PostAttempt {
  return {
    ok: false,
    reason: reasonOfStatus(status),
    status,
    isFinal: finalStatuses.includes(status),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
