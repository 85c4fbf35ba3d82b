// Answers `events/stream`: a call that stays open and notifies its client of events.

import { every } from '../../async/every.js';
import { hasEnded, onEnd } from '../../async/lifetime.js';
import { nextTurn } from '../../async/next-turn.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { eventNotifications } from '../../protocol/events/wire.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { EventPluginParts } from '../../server/handle/event-host.js';
import type { Histories } from './histories.js';
import { type Portion, SubscriptionReader } from './reader.js';
import { type EventSubscription, readSubscription, recheck } from './subscription.js';
import type { Wakes } from './wakes.js';

const { active, event, heartbeat, error, terminated } = eventNotifications;

/** Clients reconnect when they have heard nothing for twice the interval. */
const HEARTBEAT_MS = 15_000;
/** The most events that are read at a time. */
const PORTION = 100;

/** The parts that streams need. */
export interface StreamParts {
  readonly parts: EventPluginParts;
  readonly histories: Histories;
  readonly wakes: Wakes;
}

/** Answers a call of `events/stream` when the stream is over. Rejects if it cannot begin. */
export async function stream(call: Call, { parts, histories, wakes }: StreamParts): Promise<Outcome> {
  const subscription = await readSubscription(call, 'push', parts);
  const history = await histories.of(subscription.type.name);
  // Other processes are heard before the beginning is chosen, so that no event after it waits for the next look.
  await wakes.ready();
  const reader = await SubscriptionReader.open(subscription, call.params, { ...parts, history });
  const tag = { [SUBSCRIPTION_ID]: call.id };
  const first = await reader.next(PORTION);
  if (!hasEnded(call)) await new OpenStream(call, { subscription, reader, tag, parts, wakes }).run(first);
  return parts.complete({}, tag);
}

interface OpenParts {
  readonly subscription: EventSubscription;
  readonly reader: SubscriptionReader;
  /** The `_meta` of every notification. */
  readonly tag: JsonObject;
  readonly parts: EventPluginParts;
  readonly wakes: Wakes;
}

/** A stream that has begun. */
class OpenStream {
  readonly #call: Call;
  readonly #parts: OpenParts;
  #finish: () => void = () => undefined;
  #isOver = false;
  #isReading = false;
  /** Whether there may be events that came after the reading began. */
  #hasNews = true;
  /** Whether the client was told that the events cannot be read. */
  #isFailing = false;
  #notifiedAt = performance.now();
  /** The cursor after what the client was told last. */
  #cursor = '';

  constructor(call: Call, parts: OpenParts) {
    this.#call = call;
    this.#parts = parts;
  }

  /** Delivers events until the call ends, or the subscription does. */
  run(first: Portion): Promise<void> {
    const { subscription, wakes } = this.#parts;
    return new Promise((resolve) => {
      const stopHeartbeat = every(HEARTBEAT_MS / 3, () => this.#beat());
      const unsubscribe = wakes.subscribe(subscription.type.name, () => this.#wake());
      this.#finish = () => {
        this.#isOver = true;
        stopHeartbeat();
        unsubscribe();
        resolve();
      };
      onEnd(this.#call, this.#finish);
      this.#notify(active, { cursor: first.start, truncated: first.isTruncated });
      this.#tell({ ...first, isTruncated: false });
      this.#wake();
    });
  }

  #wake(): void {
    this.#hasNews = true;
    if (this.#isReading || this.#isOver) return;
    void this.#deliver();
  }

  // A wake that comes after the last look at `#hasNews` must find that nothing reads: there is no turn between the two.
  async #deliver(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#hasNews && !this.#isOver) await this.#deliverPortion();
    } catch (reason) {
      this.#reportFailure(reason);
    }
    this.#isReading = false;
  }

  async #deliverPortion(): Promise<void> {
    const { reader, parts, subscription } = this.#parts;
    this.#hasNews = false;
    const portion = await reader.next(PORTION);
    // Rights are checked after the events were read, so that none is delivered after they were lost.
    const end = await recheck(subscription, parts);
    if (this.#isOver) return;
    if (end !== undefined) return this.#terminate(end);
    this.#isFailing = false;
    this.#tell(portion);
    this.#hasNews ||= portion.hasMore;
    // The transport notices between two portions whether its client reads.
    if (portion.hasMore) await new Promise<void>(nextTurn);
  }

  #tell({ events, start, cursor, isTruncated }: Portion): void {
    if (isTruncated) this.#notify(active, { cursor: start, truncated: true });
    for (const each of events) this.#notify(event, { ...each });
    this.#cursor = cursor;
  }

  #terminate(reason: McpError): void {
    this.#notify(terminated, { error: reason.toWire(this.#call.peer.revision) });
    this.#finish();
  }

  // The next look reads again. The client is told once.
  #reportFailure(reason: unknown): void {
    if (this.#isFailing || this.#isOver) return;
    this.#isFailing = true;
    const { parts, subscription } = this.#parts;
    parts.log(
      'error',
      `The events of the type "${subscription.type.name}" could not be read for a stream`,
      reason,
    );
    const failure = new McpError('internal_error', 'The events could not be read. The server tries again.');
    this.#notify(error, { error: failure.toWire(this.#call.peer.revision) });
  }

  #beat(): void {
    if (performance.now() - this.#notifiedAt < (HEARTBEAT_MS * 2) / 3) return;
    this.#notify(heartbeat, { cursor: this.#cursor });
  }

  #notify(method: string, params: JsonObject): void {
    if (this.#isOver) return;
    this.#notifiedAt = performance.now();
    const { _meta } = params;
    this.#call.notify(method, {
      ...params,
      _meta: { ...(_meta as JsonObject | undefined), ...this.#parts.tag },
    });
  }
}
