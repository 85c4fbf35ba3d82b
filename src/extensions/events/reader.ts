// Reads the events of one subscription from the log.

import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { Occurrence } from '../../protocol/events/wire.js';
import type { EventPluginParts } from '../../server/handle/event-host.js';
import type { EventHistory } from './log/event-history.js';
import type { LogPosition } from './log/positions.js';
import { type EventSubscription, isFor, occurrenceOf } from './subscription.js';

/** The events that a subscription gets at a time. */
export interface Portion {
  readonly events: readonly Occurrence[];
  /** The cursor of the place before the first of them. */
  readonly start: string;
  /** The cursor of the place after the last of them. */
  readonly cursor: string;
  readonly hasMore: boolean;
  readonly isTruncated: boolean;
}

/** The parts of a `SubscriptionReader`. */
interface ReaderParts extends Pick<EventPluginParts, 'log' | 'mayFollow'> {
  readonly history: EventHistory;
}

/** The most events that are looked at for one portion, and the size of those that are in it. */
const MAX_READ = 1000;
const PAGE = 100;
const MAX_PORTION_LENGTH = 1024 * 1024;

/** The place of a subscription in the log. */
export class SubscriptionReader {
  readonly #subscription: EventSubscription;
  readonly #history: EventHistory;
  readonly #parts: ReaderParts;
  #position: LogPosition;
  /** Events before this time, in milliseconds since 1970, are skipped at the beginning. */
  #after: number | undefined;
  #isTruncated: boolean;

  private constructor(
    subscription: EventSubscription,
    parts: ReaderParts,
    start: {
      readonly position: LogPosition;
      readonly isTruncated: boolean;
      readonly after: number | undefined;
    },
  ) {
    this.#subscription = subscription;
    this.#history = parts.history;
    this.#parts = parts;
    this.#position = start.position;
    this.#isTruncated = start.isTruncated;
    this.#after = start.after;
  }

  /** Finds the place that the params `cursor` and `maxAgeMs` name. Without a cursor it is after the newest event. */
  static async open(
    subscription: EventSubscription,
    params: JsonObject,
    parts: ReaderParts,
  ): Promise<SubscriptionReader> {
    const { cursor = null, maxAgeMs } = params;
    if (cursor !== null && typeof cursor !== 'string')
      throw new McpError('invalid_params', 'params.cursor must be a string or null');
    const age = readCount(params, 'maxAgeMs', 0);
    const given = cursor === null ? undefined : parts.history.positionOf(cursor);
    const position = given ?? (await parts.history.tail());
    return new SubscriptionReader(subscription, parts, {
      position,
      isTruncated: cursor !== null && given === undefined,
      after: given === undefined || maxAgeMs === undefined ? undefined : Date.now() - (age as number),
    });
  }

  /** The cursor of the place where the next portion begins. */
  get cursor(): string {
    return this.#history.cursorOf(this.#position);
  }

  /** Reads at most `limit` events that are for the subscription. */
  async next(limit: number): Promise<Portion> {
    const events: Occurrence[] = [];
    let isTruncated = this.#isTruncated;
    let position = this.#position;
    let hasMore = true;
    let start: LogPosition | undefined;
    let length = 0;
    for (let read = 0; hasMore && read < MAX_READ && events.length < limit && length < MAX_PORTION_LENGTH; ) {
      const page = await this.#history.read(position, Math.min(PAGE, MAX_READ - read));
      isTruncated ||= page.isTruncated;
      ({ next: position, hasMore } = page);
      read += page.events.length;
      for (const event of page.events) {
        if (this.#isTooOld(event.timestamp)) {
          isTruncated = true;
          continue;
        }
        if (!(await isFor(this.#subscription, event, this.#parts))) continue;
        const occurrence = occurrenceOf(event, { type: this.#subscription.type, history: this.#history });
        start ??= before(event.position);
        events.push(occurrence);
        length += JSON.stringify(occurrence).length;
        if (events.length < limit && length < MAX_PORTION_LENGTH) continue;
        hasMore ||= event !== page.events.at(-1);
        position = event.position;
        break;
      }
    }
    this.#isTruncated = false;
    this.#position = position;
    const { cursor } = this;
    return { events, start: start ? this.#history.cursorOf(start) : cursor, cursor, hasMore, isTruncated };
  }

  // Only the beginning moves: an event that is late does not hide those after it.
  #isTooOld(timestamp: string): boolean {
    if (this.#after === undefined) return false;
    if (Date.parse(timestamp) < this.#after) return true;
    this.#after = undefined;
    return false;
  }
}

/** A place before an event, and after those before it. */
function before({ segment, at, used }: LogPosition): LogPosition {
  return { segment, at: at - 1, used: used - 1 };
}

/** Reads a param that is a whole number of at least `min`; undefined if it is absent. */
export function readCount(params: JsonObject, name: string, min: number): number | undefined {
  const value = params[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
  throw new McpError('invalid_params', `params.${name} must be an integer of at least ${min}`);
}
