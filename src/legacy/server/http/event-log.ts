import { checkOptions, type KeysOf } from '../../../protocol/checks/known-keys.js';

/** Keeps the events of streams, so that a client that lost its connection can fetch those that it missed. */
export interface EventLog {
  /** Keeps an event of a stream and returns the event's id, which begins with the name of the stream. */
  append(stream: string, data: string): string;
  /** Returns the events that followed `id` on its stream, oldest first; undefined if the stream is unknown. */
  after(id: string): EventsAfter | undefined;
  /** Removes a stream. Nobody will ask for it again. */
  drop(stream: string): void;
}

/** The events that followed another one. */
export interface EventsAfter {
  /** The name of the stream. */
  readonly stream: string;
  /** The events, oldest first. */
  readonly events: readonly LoggedEvent[];
  /** Whether events are missing because the log had no room for them. */
  readonly gap: boolean;
}

/** An event as it was sent. */
export interface LoggedEvent {
  /** The id of the event. */
  readonly id: string;
  /** The message, as JSON. */
  readonly data: string;
}

/** The limits of an event log in memory. */
export interface MemoryEventLogOptions {
  /**
   * The size of all events, one byte for a character. At the limit, the sessions that take the most room lose their oldest
   * events. Default: 16 MB.
   */
  readonly maxBytes?: number;
  /** The number of events of one stream; at the limit, the oldest ones are dropped. Default: 1,000. */
  readonly maxEventsPerStream?: number;
  /** The time after which a stream without a new event is dropped. Default: 5 minutes. */
  readonly maxAgeMs?: number;
}

const eventLogKeys = {
  maxBytes: true,
  maxEventsPerStream: true,
  maxAgeMs: true,
} satisfies KeysOf<MemoryEventLogOptions>;

interface StoredEvent {
  readonly number: number;
  readonly data: string;
}

interface Stream {
  readonly owner: Owner;
  touchedAt: number;
  /** The newest event that was dropped. */
  lost: number;
  events: StoredEvent[];
}

interface Owner {
  bytes: number;
  readonly streams: Set<string>;
}

/**
 * Makes an event log in memory. A stream belongs to the part of its name before the first dot: its session. When the log is
 * full, the sessions that take the most room lose their oldest events, so that a noisy one costs the others nothing.
 */
export function memoryEventLog(options: MemoryEventLogOptions = {}): EventLog {
  checkOptions('memoryEventLog', options, eventLogKeys);
  const { maxBytes = 16 * 1024 * 1024, maxEventsPerStream = 1000, maxAgeMs = 300_000 } = options;
  // In the order of their last event: a Map keeps insertion order, and an appended stream is inserted anew.
  const streams = new Map<string, Stream>();
  const owners = new Map<string, Owner>();
  let bytes = 0;
  // One count for all streams: a stream that lost its events continues where it was, and its ids stay in order.
  let next = 0;

  function drop(name: string): void {
    const stream = streams.get(name);
    if (stream === undefined) return;
    while (stream.events.length > 0) shorten(stream);
    streams.delete(name);
    stream.owner.streams.delete(name);
    if (stream.owner.streams.size === 0) owners.delete(ownerOf(name));
  }

  function shorten(stream: Stream): void {
    const oldest = stream.events.shift();
    if (oldest === undefined) return;
    stream.lost = oldest.number;
    stream.owner.bytes -= sizeOf(oldest.data);
    bytes -= sizeOf(oldest.data);
  }

  function dropOld(now: number, current: Stream): void {
    for (const [name, stream] of streams) {
      if (stream === current || now - stream.touchedAt <= maxAgeMs) return;
      drop(name);
    }
  }

  // Each owner may have as much as fits when all that have more are cut to the same share. An eighth is left free, so that a
  // full log need not do this with every event.
  function makeRoom(current: Stream): void {
    const largestFirst = [...owners.values()].sort((a, b) => b.bytes - a.bytes);
    let left = bytes - (maxBytes * 7) / 8;
    for (const [at, owner] of largestFirst.entries()) {
      const share = largestFirst[at + 1]?.bytes ?? 0;
      const above = (owner.bytes - share) * (at + 1);
      if (above < left) {
        left -= above;
        continue;
      }
      const fair = owner.bytes - left / (at + 1);
      for (const larger of largestFirst.slice(0, at + 1)) cut(larger, fair, current);
      return;
    }
  }

  // The stream without events for longest loses its events first; the newest event is never dropped.
  function cut(owner: Owner, share: number, current: Stream): void {
    const quietFirst = [...owner.streams]
      .map((name) => ({ name, stream: streams.get(name) as Stream }))
      .sort((a, b) => a.stream.touchedAt - b.stream.touchedAt || lastOf(a.stream) - lastOf(b.stream));
    for (const { name, stream } of quietFirst) {
      while (owner.bytes > share && stream.events.length > (stream === current ? 1 : 0)) shorten(stream);
      if (stream.events.length === 0) drop(name);
    }
  }

  function open(name: string, now: number): Stream {
    const existing = streams.get(name);
    if (existing !== undefined) {
      streams.delete(name);
      return existing;
    }
    const owner = owners.get(ownerOf(name)) ?? { bytes: 0, streams: new Set() };
    owners.set(ownerOf(name), owner);
    owner.streams.add(name);
    // The events of an earlier stream of this name are unknown: ids from before this event are followed by a gap.
    return { owner, touchedAt: now, lost: next - 1, events: [] };
  }

  return {
    append(name, data) {
      const now = Date.now();
      const stream = open(name, now);
      const number = next++;
      stream.touchedAt = now;
      streams.set(name, stream);
      dropOld(now, stream);
      // One event must not cost the others their place.
      if (sizeOf(data) > maxBytes / 2) {
        while (stream.events.length > 0) shorten(stream);
        stream.lost = number;
        return eventId(name, number);
      }
      const event = { number, data };
      // Most streams of sessions have one event for hours, and an empty array grows by 17 places at once.
      if (stream.events.length === 0) stream.events = [event];
      else stream.events.push(event);
      stream.owner.bytes += sizeOf(data);
      bytes += sizeOf(data);
      if (stream.events.length > maxEventsPerStream) shorten(stream);
      if (bytes > maxBytes) makeRoom(stream);
      return eventId(name, number);
    },
    after(id) {
      const dash = id.lastIndexOf('-');
      const name = id.slice(0, dash);
      const stream = streams.get(name);
      const number = Number.parseInt(id.slice(dash + 1), 36);
      if (stream === undefined || Number.isNaN(number) || Date.now() - stream.touchedAt > maxAgeMs)
        return undefined;
      const events = stream.events
        .filter((event) => event.number > number)
        .map((event) => ({ id: eventId(name, event.number), data: event.data }));
      return { stream: name, events, gap: stream.lost > number };
    },
    drop,
  };
}

// An event costs more than its text; without that, streams of empty events would fill the memory.
const OVERHEAD = 200;

function sizeOf(data: string): number {
  return data.length + OVERHEAD;
}

function ownerOf(stream: string): string {
  const dot = stream.indexOf('.');
  return dot === -1 ? stream : stream.slice(0, dot);
}

function lastOf(stream: Stream): number {
  return stream.events.at(-1)?.number ?? 0;
}

function eventId(stream: string, number: number): string {
  return `${stream}-${number.toString(36)}`;
}
