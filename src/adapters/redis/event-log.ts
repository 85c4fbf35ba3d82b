// The event log on Redis: a stream for each stream, and a message on its channel with each event.

import { onAbort } from '../../async/abort.js';
import type { EventLog, FollowedStream, LoggedEvent } from '../../state/event-log.js';
import { RedisError } from './client/error.js';
import { time } from './commands.js';
import type { Access } from './engine.js';
import { APPEND, PUBLISH, READ } from './scripts.js';
import type { Subscriptions } from './subscriptions.js';

/** The limits of the event log. */
export interface RedisEventLimits {
  /** The number of events of one stream. At the limit, the oldest are dropped. Default: 1,000. */
  readonly maxEventsPerStream?: number;
  /** The size of the events of one stream, in bytes. At the limit, the oldest are dropped, but never the newest. Default: 4 MB. */
  readonly maxBytesPerStream?: number;
  /** The time after which a stream without a new event is dropped, in milliseconds. Default: 5 minutes. */
  readonly maxEventAgeMs?: number;
}

/** The largest number of events that are read at once. */
const BATCH = 100;
/** The message that ends the readers of a stream that was dropped. */
const DROPPED = 'dropped';

/**
 * Makes the event log on Redis. Readers are woken by pub/sub and then read the stream: a process needs no connection besides
 * that of its bus. A blocking XREAD would need one for each node, and would have to be interrupted for every new reader.
 */
export function redisEventLog(
  engine: Access,
  { shared, ...limits }: Required<RedisEventLimits> & { readonly shared: Subscriptions },
): EventLog {
  const { maxEventsPerStream, maxBytesPerStream, maxEventAgeMs } = limits;
  const subscriptions = shared.share();
  const followers = new Set<WakeUp>();
  const channelOf = (stream: string): string => engine.keyspace.channel('stream', stream);
  return {
    async append(stream, data, { last = false } = {}) {
      // A string with half a character has no form in UTF-8.
      const isPlain = !/\p{Cs}/u.test(data);
      const args = [isPlain ? data : JSON.stringify(data), isPlain ? '' : 'json', last ? '1' : ''];
      args.push(
        String(maxEventsPerStream),
        String(maxBytesPerStream),
        time(maxEventAgeMs),
        channelOf(stream),
      );
      const partition = engine.keyspace.of(stream);
      const keys = [partition.counter, ...partition.stream(stream)];
      return `${stream}-${await engine.run(APPEND, { keys, args })}`;
    },
    async follow(after, signal) {
      const place = placeOf(after);
      if (place === undefined) return undefined;
      const wake = new WakeUp();
      const end = await subscriptions.subscribe(channelOf(place.stream), {
        message: (message) => (message === DROPPED ? wake.end() : wake.up()),
        gap: () => wake.up(),
      });
      const forget = onAbort(signal, () => wake.end());
      if (signal.aborted) wake.end();
      followers.add(wake);
      wake.onEnd(() => {
        followers.delete(wake);
        forget();
        end();
      });
      const reader = new StreamReader(engine, place);
      try {
        const first = await reader.read();
        if (first === undefined) wake.end();
        return first && followed(reader, { first, wake });
      } catch (error) {
        wake.end();
        throw error;
      }
    },
    async drop(stream) {
      const keys = engine.keyspace.of(stream).stream(stream);
      await engine.send(['DEL', ...keys], { key: keys[0] });
      await engine.run(PUBLISH, { keys: [channelOf(stream)], args: [DROPPED] });
    },
    async close() {
      for (const wake of [...followers]) wake.end();
      subscriptions.end();
      engine.close();
    },
  };
}

function followed(
  reader: StreamReader,
  { first, wake }: { readonly first: Batch; readonly wake: WakeUp },
): FollowedStream {
  async function* events(): AsyncGenerator<LoggedEvent, void, undefined> {
    try {
      let batch: Batch | undefined = first;
      for (;;) {
        for (const event of batch.events) {
          if (wake.hasEnded) return;
          yield event;
          if (event.last) return;
        }
        if (batch.hasEnded) return;
        if (batch.events.length === 0) await wake.wait();
        if (wake.hasEnded) return;
        batch = await reader.read().catch((error: unknown) => {
          // The log was closed while it was read.
          if (wake.hasEnded) return undefined;
          throw error;
        });
        if (batch === undefined || wake.hasEnded) return;
        if (!batch.isComplete)
          throw new RedisError(
            'refused',
            `Events of the stream ${reader.stream} were dropped before they were read.`,
          );
      }
    } finally {
      wake.end();
    }
  }
  return { stream: reader.stream, gap: !first.isComplete, events: events() };
}

interface Batch {
  readonly events: readonly LoggedEvent[];
  /** Whether no event is missing before these. */
  readonly isComplete: boolean;
  /** Whether the stream had ended before these. */
  readonly hasEnded: boolean;
}

type ReadReply = [
  isComplete: number,
  hasEnded: number,
  events: (readonly [id: string, encoding: string, last: string, data: string])[],
];

/** Reads a stream from its last known event on. */
class StreamReader {
  readonly stream: string;
  readonly #engine: Access;
  #last: string;

  constructor(engine: Access, { stream, id }: { readonly stream: string; readonly id: string }) {
    this.stream = stream;
    this.#engine = engine;
    this.#last = id;
  }

  /** The events that followed; undefined if there is no such stream. */
  async read(): Promise<Batch | undefined> {
    const [key] = this.#engine.keyspace.of(this.stream).stream(this.stream);
    const args = [this.#last, String(BATCH)];
    const reply = (await this.#engine.run(READ, { keys: [key], args })) as ReadReply | null;
    if (reply === null) return undefined;
    const [isComplete, hasEnded, found] = reply;
    const events = found.map(([id, encoding, last, data]) => ({
      id: `${this.stream}-${id}`,
      data: encoding === 'json' ? (JSON.parse(data) as string) : data,
      last: last === '1',
    }));
    this.#last = found.at(-1)?.[0] ?? this.#last;
    return { events, isComplete: isComplete === 1, hasEnded: hasEnded === 1 };
  }
}

/** Wakes up the reader of a stream. A wake-up while it is not waiting is not lost. */
class WakeUp {
  hasEnded = false;
  #isUp = false;
  #resolve: (() => void) | undefined;
  #onEnd: (() => void) | undefined;

  up(): void {
    this.#isUp = true;
    this.#resolve?.();
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#onEnd?.();
    this.up();
  }

  onEnd(listener: () => void): void {
    this.#onEnd = listener;
    if (this.hasEnded) listener();
  }

  async wait(): Promise<void> {
    if (!this.#isUp)
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
    this.#isUp = false;
  }
}

function placeOf(id: string): { readonly stream: string; readonly id: string } | undefined {
  const [, stream, number] = /^(.+)-(\d{1,16})$/s.exec(id) ?? [];
  return stream === undefined || number === undefined ? undefined : { stream, id: number };
}
