import { checkOptions, type KeysOf } from '../../../protocol/checks/known-keys.js';

/** Stores the events of streams, so that a client that lost its connection can fetch those that it missed. */
export interface EventLog {
  /** Stores an event of a stream and returns the event's id, which begins with the name of the stream. */
  append(stream: string, data: string): string;
  /** Returns the events that followed `id` on its stream, oldest first; undefined if the stream is unknown. */
  after(id: string): EventsAfter | undefined;
  /** Removes a stream, which will not be resumed any more. */
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
   * The size of all events together, counted as one byte per character and 200 bytes per event. At the limit, the sessions with
   * the most bytes lose their oldest events. An event larger than half of it is not stored. Default: 16 MB.
   */
  readonly maxBytes?: number;
  /** The number of events of one stream. At the limit, the oldest are dropped. Default: 1,000. */
  readonly maxEventsPerStream?: number;
  /** The time after which a stream without a new event is dropped, in milliseconds. Default: 5 minutes. */
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
  /** The number of the newest event that was dropped. */
  lastDropped: number;
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
  checkOptions('memoryEventLog', options, eventLogKeys);
  const { maxBytes = 16 * 1024 * 1024, maxEventsPerStream = 1000, maxAgeMs = 300_000 } = options;
  // In order of their last events: a Map keeps insertion order, and a stream is inserted again with each event.
  const streams = new Map<string, Stream>();
  const owners = new Map<string, Owner>();
  let bytes = 0;
  // One counter for all streams, so that the ids of a stream stay in order even after it was dropped.
  let next = 0;

  function drop(name: string): void {
    const stream = streams.get(name);
    if (stream === undefined) return;
    while (stream.events.length > 0) dropOldest(stream);
    streams.delete(name);
    stream.owner.streams.delete(name);
    if (stream.owner.streams.size === 0) owners.delete(ownerOf(name));
  }

  function dropOldest(stream: Stream): void {
    const oldest = stream.events.shift();
    if (oldest === undefined) return;
    stream.lastDropped = oldest.number;
    stream.owner.bytes -= sizeOf(oldest.data);
    bytes -= sizeOf(oldest.data);
  }

  function dropOld(now: number, current: Stream): void {
    for (const [name, stream] of streams) {
      if (stream === current || now - stream.touchedAt <= maxAgeMs) return;
      drop(name);
    }
  }

  // Finds the share to which the largest owners are cut, so that the log is 7/8 full. The free eighth keeps a full log from doing this
  // with every event.
  function makeRoom(current: Stream): void {
    const largestFirst = [...owners.values()].sort((a, b) => b.bytes - a.bytes);
    let excess = bytes - (maxBytes * 7) / 8;
    for (const [at, owner] of largestFirst.entries()) {
      const share = largestFirst[at + 1]?.bytes ?? 0;
      const above = (owner.bytes - share) * (at + 1);
      if (above < excess) {
        excess -= above;
        continue;
      }
      const fairShare = owner.bytes - excess / (at + 1);
      for (const larger of largestFirst.slice(0, at + 1)) cut(larger, fairShare, current);
      return;
    }
  }

  // The stream that was quiet for longest loses its events first. The newest event of all is never dropped.
  function cut(owner: Owner, share: number, current: Stream): void {
    const quietFirst = [...owner.streams]
      .map((name) => ({ name, stream: streams.get(name) as Stream }))
      .sort((a, b) => a.stream.touchedAt - b.stream.touchedAt || lastOf(a.stream) - lastOf(b.stream));
    for (const { name, stream } of quietFirst) {
      while (owner.bytes > share && stream.events.length > (stream === current ? 1 : 0)) dropOldest(stream);
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
    // The events of an earlier stream of this name are unknown, so an id from before this event is followed by a gap.
    return { owner, touchedAt: now, lastDropped: next - 1, events: [] };
  }

  return {
    append(name, data) {
      const now = Date.now();
      const stream = open(name, now);
      const number = next++;
      stream.touchedAt = now;
      streams.set(name, stream);
      dropOld(now, stream);
      // One large event must not displace all others.
      if (sizeOf(data) > maxBytes / 2) {
        while (stream.events.length > 0) dropOldest(stream);
        stream.lastDropped = number;
        return eventId(name, number);
      }
      const event = { number, data };
      // Most streams have a single event for hours, and a push to an empty array reserves 17 places.
      if (stream.events.length === 0) stream.events = [event];
      else stream.events.push(event);
      stream.owner.bytes += sizeOf(data);
      bytes += sizeOf(data);
      if (stream.events.length > maxEventsPerStream) dropOldest(stream);
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
      return { stream: name, events, gap: stream.lastDropped > number };
    },
    drop,
  };
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

function lastOf(stream: Stream): number {
  return stream.events.at(-1)?.number ?? 0;
}

function eventId(stream: string, number: number): string {
  return `${stream}-${number.toString(36)}`;
}
