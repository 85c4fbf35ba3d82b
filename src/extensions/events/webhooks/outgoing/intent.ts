// Whether the owner of an address wants webhooks: nothing is delivered to an address before that is known.

import { ExpiringMap } from '../../../../async/expiring-map.js';
import { Flights } from '../../../../async/flight.js';
import { isObject } from '../../../../jsonrpc/message.js';
import type { SafeFetch } from '../../../../oauth/fetch/safe-fetch.js';
import { encodeBase64Url } from '../../../../protocol/encoding/base64.js';
import { isSameDigest } from '../../../../protocol/encoding/same-digest.js';
import { eventFailure } from '../../../../protocol/event-failures.js';
import type { EventDialect } from '../../../../protocol/events/dialects.js';
import type { WebhookKey } from '../../../../protocol/events/signature.js';
import type { CallbackReason, WebhookEnvelope } from '../../../../protocol/events/wire.js';
import { envelopeId } from './envelopes.js';
import { type PostAttempt, postWebhook } from './post.js';
import { WellKnownReceivers } from './well-known.js';

/** A subscription whose receiver is asked. */
export interface Intention {
  /** The caller that subscribes. */
  readonly principal: string;
  readonly url: string;
  readonly subscription: string;
  readonly key: WebhookKey;
  readonly dialect: EventDialect;
}

/** The parts of an `Intents`. */
export interface IntentsParts {
  readonly fetch: SafeFetch;
  /** The origins that the operator has named: their owners need not be asked. */
  readonly allow: ReadonlySet<string>;
}

/** The time for which an answer holds, for one caller and one address. */
export const INTENT_MS: number = 24 * 3_600_000;
const MAX_KNOWN = 10_000;

/** The challenges of one process to one host: at the same time, and in a minute. A caller could otherwise flood a host through us. */
const MAX_OPEN = 5;
const MAX_PER_MINUTE = 60;
const MINUTE_MS = 60_000;
const MAX_HOSTS = 10_000;

const encoder = new TextEncoder();

/** Finds out whether receivers want webhooks, and remembers it for each caller and address. */
export class Intents {
  readonly #parts: IntentsParts;
  readonly #receivers: WellKnownReceivers;
  readonly #known = new ExpiringMap<true>({ maxEntries: MAX_KNOWN });
  readonly #asking = new Flights<string, CallbackReason | undefined>();
  readonly #open = new Map<string, number>();
  readonly #recent = new ExpiringMap<{ count: number }>({ maxEntries: MAX_HOSTS });

  constructor(parts: IntentsParts) {
    this.#parts = parts;
    this.#receivers = new WellKnownReceivers(parts.fetch);
  }

  /** Resolves if the receiver wants webhooks. Rejects with the error for the caller if not. */
  async confirm(intention: Intention): Promise<void> {
    const { principal, url, dialect } = intention;
    if (this.#parts.allow.has(new URL(url).origin)) return;
    const key = JSON.stringify([principal, url]);
    if (this.#known.get(key)) return;
    const asking = this.#asking.get(key) ?? this.#asking.start(key, () => this.#ask(intention));
    const reason = await asking.join();
    if (reason !== undefined) throw unwanted(dialect, reason);
    this.#known.set(key, true, INTENT_MS);
  }

  /** Asks the receiver, and then the page of its origin. Returns the reason if it does not want webhooks. */
  async #ask(intention: Intention): Promise<CallbackReason | undefined> {
    const { host } = new URL(intention.url);
    this.#enter(host, intention.dialect);
    try {
      const answer = await this.#challenge(intention);
      if (answer === undefined || answer !== 'challenge_failed') return answer;
      return (await this.#receivers.accept(intention.url)) ? undefined : answer;
    } finally {
      const left = (this.#open.get(host) ?? 1) - 1;
      if (left > 0) this.#open.set(host, left);
      else this.#open.delete(host);
    }
  }

  async #challenge({ url, subscription, key }: Intention): Promise<CallbackReason | undefined> {
    const challenge = encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    const envelope: WebhookEnvelope = { type: 'verification', challenge };
    const message = { url, subscription, keys: [key], id: envelopeId('verification') };
    const body = encoder.encode(JSON.stringify(envelope));
    const attempt = await postWebhook({ ...message, body }, this.#parts);
    if (attempt.ok) return isEcho(attempt, challenge) ? undefined : 'challenge_failed';
    // A receiver that replies at all can be reached, whatever its status is.
    return attempt.status === undefined ? attempt.reason : 'challenge_failed';
  }

  #enter(host: string, dialect: EventDialect): void {
    const open = this.#open.get(host) ?? 0;
    const recent = this.#recent.get(host) ?? { count: 0 };
    if (open >= MAX_OPEN || recent.count >= MAX_PER_MINUTE)
      throw eventFailure(
        'exhausted',
        'Too many receivers of this host are being verified. Try again in a minute.',
        { dialect, data: { limit: 'verifications', max: open >= MAX_OPEN ? MAX_OPEN : MAX_PER_MINUTE } },
      );
    if (recent.count === 0) this.#recent.set(host, recent, MINUTE_MS);
    recent.count++;
    this.#open.set(host, open + 1);
  }
}

function isEcho({ reply }: Extract<PostAttempt, { ok: true }>, challenge: string): boolean {
  if (reply === undefined) return false;
  try {
    const echo: unknown = JSON.parse(reply);
    return (
      isObject(echo) && typeof echo['challenge'] === 'string' && isSameDigest(challenge, echo['challenge'])
    );
  } catch {
    return false;
  }
}

// Nothing of the reply is in the message: it could be the answer of a service inside the network.
const sentences: Readonly<Record<CallbackReason, string>> = {
  connection_refused: 'The receiver cannot be reached.',
  timeout: 'The receiver did not reply in time.',
  tls_error: 'The receiver does not have a valid certificate.',
  http_4xx: 'The receiver refused the verification.',
  http_5xx: 'The receiver failed.',
  challenge_failed: 'The receiver did not return the challenge.',
};

function unwanted(dialect: EventDialect, reason: CallbackReason): Error {
  return eventFailure('callback', sentences[reason], { dialect, data: { reason } });
}
