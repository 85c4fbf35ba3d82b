// The meaning of the results of attempts for the messages of a subscription.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { CallbackReason } from '../../../protocol/events/wire.js';
import type { StoreChange } from '../../../state/store.js';
import type { LogPosition } from '../log/positions.js';
import type { PostAttempt } from './outgoing/post.js';
import type { SubscriptionPlace } from './stored/places.js';
import type { DeliveryProgress, OpenMessage } from './stored/subscription.js';

/** The result of sending a message: an attempt, or nothing, because the process stops or the message is empty by now. */
export type SendResult = PostAttempt | 'aborted' | 'obsolete' | 'too large';

/** A message with its result. */
export interface SentMessage {
  readonly message: OpenMessage;
  readonly sent: SendResult;
  /** The event, if the message is one, as it was sent. */
  readonly event?: JsonObject | undefined;
}

/** An event that could not be delivered, as it is kept. */
export interface DeadLetter {
  readonly event: JsonObject;
  readonly reason: CallbackReason | 'too_large';
  readonly attempts: number;
  /** When it was given up, in milliseconds since 1970. */
  readonly at: number;
}

/** The time for which undelivered events are kept, and their number for each subscription. */
const DEAD_MS = 7 * 86_400_000;
const MAX_DEAD = 100;
/** The sample by which deliveries are suspended: nearly all attempts of an hour have failed, and there were enough of them. */
const SAMPLE = { ms: 3_600_000, least: 100, share: 0.95 } as const;
const MAX_GONE = 10;
const GONE = 410;

/** The progress after messages were sent, with the changes of the events that were given up. */
export class Outbox {
  readonly #place: SubscriptionPlace;
  readonly #retryInMs: (failures: number, askedMs?: number) => number | undefined;
  readonly changes: StoreChange[] = [];
  /** The events that were given up, for the log. */
  given = 0;
  progress: DeliveryProgress;

  constructor(
    place: SubscriptionPlace,
    progress: DeliveryProgress,
    retryInMs: (failures: number, askedMs?: number) => number | undefined,
  ) {
    this.#place = place;
    this.#retryInMs = retryInMs;
    this.progress = progress;
  }

  /** Notes how far the events were read. */
  reach(position: LogPosition): void {
    const { toldOfGap: _, ...rest } = this.progress;
    this.progress = { ...rest, position };
  }

  /** Notes the result of a message. It may be new, or one that is sent again. */
  note({ message, sent, event }: SentMessage): void {
    const others = this.progress.open.filter(({ id }) => id !== message.id);
    if (sent === 'aborted') this.progress = { ...this.progress, open: [...others, message] };
    else if (sent === 'obsolete') this.progress = { ...this.progress, open: others };
    else if (sent === 'too large') this.#giveUp(message, event, { others, reason: 'too_large' });
    else if (sent.ok) this.#succeed(message, others);
    else this.#fail(message, sent, { others, event });
  }

  /** Whether deliveries should be suspended: the receiver hardly ever accepts anything. */
  get isHopeless(): boolean {
    const { sample, gone } = this.progress;
    return (
      gone >= MAX_GONE ||
      (sample.attempts >= SAMPLE.least && sample.failures > sample.attempts * SAMPLE.share)
    );
  }

  #succeed({ what }: OpenMessage, open: readonly OpenMessage[]): void {
    const { failedSince: _, lastError: _last, ...rest } = this.progress;
    const dead = what.is === 'dead' ? rest.dead.filter((key) => key !== what.key) : rest.dead;
    if (what.is === 'dead') this.changes.push({ do: 'delete', key: this.#place.dead + what.key });
    this.progress = { ...rest, open, dead, gone: 0, lastDeliveryAt: Date.now(), sample: this.#sample(0) };
  }

  #fail(
    message: OpenMessage,
    { reason, status, isFinal, retryAfterMs }: Extract<PostAttempt, { ok: false }>,
    { others, event }: { readonly others: readonly OpenMessage[]; readonly event: JsonObject | undefined },
  ): void {
    const failures = message.failures + 1;
    const inMs = isFinal ? undefined : this.#retryInMs(failures, retryAfterMs);
    const now = Date.now();
    this.progress = {
      ...this.progress,
      lastError: reason,
      failedSince: this.progress.failedSince ?? now,
      gone: status === GONE ? this.progress.gone + 1 : 0,
      sample: this.#sample(1),
    };
    if (inMs === undefined) this.#giveUp({ ...message, failures }, event, { others, reason });
    else this.progress = { ...this.progress, open: [...others, { ...message, failures, dueAt: now + inMs }] };
  }

  #giveUp(
    { what, id, failures }: OpenMessage,
    event: JsonObject | undefined,
    { others, reason }: { readonly others: readonly OpenMessage[]; readonly reason: DeadLetter['reason'] },
  ): void {
    this.progress = { ...this.progress, open: others };
    if (event === undefined) return;
    const key = what.is === 'dead' ? what.key : id;
    const dead = [...this.progress.dead.filter((each) => each !== key), key];
    const letter: DeadLetter = { event, reason, attempts: failures, at: Date.now() };
    this.changes.push({ do: 'put', key: this.#place.dead + key, value: { ...letter }, ttlMs: DEAD_MS });
    for (const oldest of dead.splice(0, Math.max(0, dead.length - MAX_DEAD)))
      this.changes.push({ do: 'delete', key: this.#place.dead + oldest });
    this.given++;
    this.progress = { ...this.progress, dead };
  }

  #sample(failures: number): DeliveryProgress['sample'] {
    const { sample } = this.progress;
    const now = Date.now();
    return now - sample.since > SAMPLE.ms
      ? { since: now, attempts: 1, failures }
      : { ...sample, attempts: sample.attempts + 1, failures: sample.failures + failures };
  }
}
