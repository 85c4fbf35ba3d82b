// The event log in memory, for a server of one process.

import { onAbort } from '../../async/abort.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import {
  checkEventSize,
  type EventLimits,
  type EventLog,
  eventLimitTable,
  type FollowedStream,
  type LoggedEvent,
} from '../event-log.js';

/** The limits of an event log in memory. It counts one byte per character, and 200 bytes per event. */
export interface MemoryEventLogOptions extends EventLimits {
  /**
   * The size of all events together, in bytes. At the limit, the sessions with the most bytes lose their oldest events. An event
   * larger than half of it is rejected. Default: 16 MB.
   */
  readonly maxBytes?: number;
}

const optionTable = {
  ...eventLimitTable,
  maxBytes: { is: 'count', default: 16 * 1024 * 1024 },
} as const satisfies OptionTable<MemoryEventLogOptions>;

interface StoredEvent {
  readonly number: number;
  readonly data: string;
}

interface Stream {
  readonly owner: Owner;
  touchedAt: number;
  /** The number of the newest event that was dropped. */
  lastDropped: number;
  /** The number of the event that ended the stream. */
  endedBy: number;
  bytes: number;
  events: StoredEvent[];
}

interface Owner {
  bytes: number;
  readonly streams: Set<string>;
}

/**
 * Makes an event log in memory. A stream belongs to a session: the part of its name before the first dot. When the log is full, the
 * sessions with the most bytes lose their oldest events, so that a noisy session does not affect the others.
 */
export function memoryEventLog(options: MemoryEventLogOptions = {}): EventLog {
  const log = new MemoryEventLog(readOptions('memoryEventLog', options, optionTable));
  // A plain object, so that a copy of it with one method replaced is an event log, too.
  return {
    append: (stream, data, end) => log.append(stream, data, end),
    follow: (after, signal) => log.follow(after, signal),
    drop: (stream) => log.drop(stream),
    close: () => log.close(),
  };
}

const NOT_YET = Number.POSITIVE_INFINITY;

class MemoryEventLog {
  readonly #limits: Required<MemoryEventLogOptions>;
  // In order of their last events: a Map keeps insertion order, and a stream is inserted again with each event.
  readonly #streams = new Map<string, Stream>();
  readonly #owners = new Map<string, Owner>();
  /** The readers that wait for the next event of a stream. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #bytes = 0;
  // One counter for all streams, so that the ids of a stream stay in order even after it was dropped.
  #next = 0;

  constructor(limits: Required<MemoryEventLogOptions>) {
    this.#limits = limits;
  }

  async append(name: string, data: string, { last = false } = {}): Promise<string> {
    checkEventSize(data.length, this.#limits.maxEventBytes);
    // One large event must not displace all others.
    checkEventSize(sizeOf(data), Math.floor(this.#limits.maxBytes / 2), 'half of maxBytes');
    const now = Date.now();
    const stream = this.#open(name, now);
    const number = this.#next++;
    stream.touchedAt = now;
    if (last && stream.endedBy === NOT_YET) stream.endedBy = number;
    this.#streams.set(name, stream);
    this.#dropOld(now, stream);
    this.#keep(stream, { number, data });
    for (const wake of [...(this.#waiting.get(name) ?? [])]) wake();
    return eventId(name, number);
  }

  #keep(stream: Stream, event: StoredEvent): void {
    const size = sizeOf(event.data);
    // Most streams have few events, and a push to an empty array reserves 17 places.
    if (stream.events.length === 0) stream.events = [event];
    else stream.events.push(event);
    stream.owner.bytes += size;
    stream.bytes += size;
    this.#bytes += size;
    const { maxEventsPerStream, maxBytesPerStream } = this.#limits;
    while (
      stream.events.length > 1 &&
      (stream.events.length > maxEventsPerStream || stream.bytes > maxBytesPerStream)
    )
      this.#dropOldest(stream);
    if (this.#bytes > this.#limits.maxBytes) this.#makeRoom(stream);
  }

  async follow(after: string, signal: AbortSignal): Promise<FollowedStream | undefined> {
    const dash = after.lastIndexOf('-');
    const name = after.slice(0, dash);
    const stream = this.#streams.get(name);
    const number = readNumber(after.slice(dash + 1));
    if (stream === undefined || number === undefined || number >= this.#next) return undefined;
    if (Date.now() - stream.touchedAt > this.#limits.maxAgeMs && !this.#waiting.has(name)) return undefined;
    return { stream: name, gap: stream.lastDropped > number, events: this.#read(name, number, signal) };
  }

  // Holds a position instead of events, so that a reader that is slow costs no memory.
  async *#read(name: string, after: number, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    let position = after;
    while (!signal.aborted) {
      const { events = [], endedBy = NOT_YET } = this.#streams.get(name) ?? {};
      if (endedBy <= position) return;
      const event = firstAfter(events, position);
      if (event === undefined) await this.#nextEvent(name, signal);
      else {
        position = event.number;
        yield { id: eventId(name, event.number), data: event.data, last: event.number === endedBy };
      }
    }
  }

  #nextEvent(name: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(name) ?? new Set();
      this.#waiting.set(name, waiting);
      const wake = (): void => {
        forget();
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name);
        resolve();
      };
      const forget = onAbort(signal, wake);
      waiting.add(wake);
    });
  }

  async drop(name: string): Promise<void> {
    this.#drop(name);
  }

  async close(): Promise<void> {
    for (const name of [...this.#streams.keys()]) this.#drop(name);
  }

  #drop(name: string): void {
    const stream = this.#streams.get(name);
    if (stream === undefined) return;
    while (stream.events.length > 0) this.#dropOldest(stream);
    this.#streams.delete(name);
    stream.owner.streams.delete(name);
    if (stream.owner.streams.size === 0) this.#owners.delete(ownerOf(name));
  }

  #dropOldest(stream: Stream): void {
    const oldest = stream.events.shift();
    if (oldest === undefined) return;
    stream.lastDropped = oldest.number;
    stream.owner.bytes -= sizeOf(oldest.data);
    stream.bytes -= sizeOf(oldest.data);
    this.#bytes -= sizeOf(oldest.data);
  }

  #dropOld(now: number, current: Stream): void {
    for (const [name, stream] of this.#streams) {
      if (stream === current || now - stream.touchedAt <= this.#limits.maxAgeMs) return;
      if (this.#waiting.has(name)) {
        // Somebody reads the stream: it is not old, only quiet.
        stream.touchedAt = now;
        this.#streams.delete(name);
        this.#streams.set(name, stream);
      } else this.#drop(name);
    }
  }

  // Finds the share to which the largest owners are cut, so that the log is 7/8 full. The free eighth keeps a full log from doing this
  // with every event.
  #makeRoom(current: Stream): void {
    const largestFirst = [...this.#owners.values()].sort((a, b) => b.bytes - a.bytes);
    let excess = this.#bytes - (this.#limits.maxBytes * 7) / 8;
    for (const [at, owner] of largestFirst.entries()) {
      const share = largestFirst[at + 1]?.bytes ?? 0;
      const above = (owner.bytes - share) * (at + 1);
      if (above < excess) {
        excess -= above;
        continue;
      }
      const fairShare = owner.bytes - excess / (at + 1);
      for (const larger of largestFirst.slice(0, at + 1)) this.#cut(larger, fairShare, current);
      return;
    }
  }

  // The stream that was quiet for longest loses its events first. The newest event of all is never dropped.
  #cut(owner: Owner, share: number, current: Stream): void {
    const quietFirst = [...owner.streams]
      .map((name) => ({ name, stream: this.#streams.get(name) as Stream }))
      .sort((a, b) => a.stream.touchedAt - b.stream.touchedAt || lastOf(a.stream) - lastOf(b.stream));
    for (const { name, stream } of quietFirst) {
      while (owner.bytes > share && stream.events.length > (stream === current ? 1 : 0))
        this.#dropOldest(stream);
      if (stream.events.length === 0) this.#drop(name);
    }
  }

  #open(name: string, now: number): Stream {
    const existing = this.#streams.get(name);
    if (existing !== undefined) {
      this.#streams.delete(name);
      return existing;
    }
    const owner = this.#owners.get(ownerOf(name)) ?? { bytes: 0, streams: new Set() };
    this.#owners.set(ownerOf(name), owner);
    owner.streams.add(name);
    // The events of an earlier stream of this name are unknown, so an id from before this event is followed by a gap.
    return { owner, touchedAt: now, lastDropped: this.#next - 1, endedBy: NOT_YET, bytes: 0, events: [] };
  }
}

// The memory that an event takes beside its text. Without it, empty events would not count and could fill the memory.
const OVERHEAD = 200;

function sizeOf(data: string): number {
  return data.length + OVERHEAD;
}

function ownerOf(stream: string): string {
  const dot = stream.indexOf('.');
  return dot === -1 ? stream : stream.slice(0, dot);
}

/** The first event after a position: a binary search, because readers look again after each event. */
function firstAfter(events: readonly StoredEvent[], position: number): StoredEvent | undefined {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle] as StoredEvent).number > position) high = middle;
    else low = middle + 1;
  }
  return events[low];
}

function readNumber(text: string): number | undefined {
  return /^[0-9a-z]{1,10}$/.test(text) ? Number.parseInt(text, 36) : undefined;
}

function lastOf(stream: Stream): number {
  return stream.events.at(-1)?.number ?? 0;
}

function eventId(stream: string, number: number): string {
  return `${stream}-${number.toString(36)}`;
}
