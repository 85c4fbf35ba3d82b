import { checkOptions, type KeysOf } from '../protocol/known-keys.js';

/** Keeps what was sent on streams, so that a client that lost its connection can fetch what it missed. */
export interface EventLog {
  /** Keeps an event of a stream and returns its id, which begins with the name of the stream. */
  append(stream: string, data: string): string;
  /** The events that followed `id` on its stream, oldest first; undefined where nothing is known of it. */
  after(id: string): { readonly stream: string; readonly events: readonly LoggedEvent[] } | undefined;
  /** Nobody will ask for this stream again. */
  drop(stream: string): void;
}

export interface LoggedEvent {
  readonly id: string;
  readonly data: string;
}

export interface MemoryEventLogOptions {
  readonly maxBytes?: number;
  readonly maxEventsPerStream?: number;
  readonly maxAgeMs?: number;
}

const eventLogKeys = {
  maxBytes: true,
  maxEventsPerStream: true,
  maxAgeMs: true,
} satisfies KeysOf<MemoryEventLogOptions>;

interface Kept {
  readonly number: number;
  readonly data: string;
}

interface Stream {
  touchedAt: number;
  bytes: number;
  readonly events: Kept[];
}

/** An event log in memory. When it is full, the streams that were quiet for longest lose their events first. */
export function memoryEventLog(options: MemoryEventLogOptions = {}): EventLog {
  checkOptions('memoryEventLog', options, eventLogKeys);
  const { maxBytes = 16 * 1024 * 1024, maxEventsPerStream = 1000, maxAgeMs = 300_000 } = options;
  // In the order of their last event: a Map keeps insertion order, and an appended stream is inserted anew.
  const streams = new Map<string, Stream>();
  let bytes = 0;
  // One count for all streams: a stream that lost its events goes on where it was, and its ids stay in order.
  let next = 0;

  function drop(name: string): void {
    bytes -= streams.get(name)?.bytes ?? 0;
    streams.delete(name);
  }

  function shorten(stream: Stream): void {
    const oldest = stream.events.shift();
    if (oldest === undefined) return;
    stream.bytes -= sizeOf(oldest.data);
    bytes -= sizeOf(oldest.data);
  }

  function makeRoom(now: number, current: Stream): void {
    for (const [name, stream] of streams) {
      if (stream === current || (bytes <= maxBytes && now - stream.touchedAt <= maxAgeMs)) break;
      drop(name);
    }
    while (current.events.length > maxEventsPerStream || (bytes > maxBytes && current.events.length > 1))
      shorten(current);
  }

  return {
    append(name, data) {
      const now = Date.now();
      const stream = streams.get(name) ?? { touchedAt: now, bytes: 0, events: [] };
      const number = next++;
      stream.events.push({ number, data });
      stream.touchedAt = now;
      stream.bytes += sizeOf(data);
      bytes += sizeOf(data);
      streams.delete(name);
      streams.set(name, stream);
      makeRoom(now, stream);
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
      return { stream: name, events };
    },
    drop,
  };
}

// An event costs more than its text; without that, streams of empty events would fill the memory.
const OVERHEAD = 200;

function sizeOf(data: string): number {
  return data.length + OVERHEAD;
}

function eventId(stream: string, number: number): string {
  return `${stream}-${number.toString(36)}`;
}
