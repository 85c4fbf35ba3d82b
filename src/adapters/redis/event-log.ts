// The event log on Redis: a stream for each stream, and a message on its channel with each event.

import { checkEventSize, type EventLimits, type EventLog } from '../../state/event-log.js';
import { type EventBatch, EventReader } from '../../state/event-reader.js';
import { time } from './commands.js';
import type { Access } from './engine.js';
import { APPEND, PUBLISH, READ } from './scripts.js';
import type { Subscriptions } from './subscriptions.js';

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
  { shared, ...limits }: Required<EventLimits> & { readonly shared: Subscriptions },
): EventLog {
  const { maxEventsPerStream, maxBytesPerStream, maxAgeMs, maxEventBytes } = limits;
  const subscriptions = shared.share();
  const readers = new Set<EventReader>();
  const channelOf = (stream: string): string => engine.keyspace.channel('stream', stream);
  return {
    async append(stream, data, { last = false } = {}) {
      checkEventSize(Buffer.byteLength(data), maxEventBytes);
      // A string with half a character has no form in UTF-8.
      const isPlain = !/\p{Cs}/u.test(data);
      const args = [isPlain ? data : JSON.stringify(data), isPlain ? '' : 'json', last ? '1' : ''];
      args.push(String(maxEventsPerStream), String(maxBytesPerStream), time(maxAgeMs), channelOf(stream));
      const partition = engine.keyspace.of(stream);
      const keys = [partition.counter, ...partition.stream(stream)];
      return `${stream}-${await engine.run(APPEND, { keys, args })}`;
    },
    async follow(after, signal) {
      const place = placeOf(after);
      if (place === undefined) return undefined;
      const { stream } = place;
      let reader: EventReader | undefined;
      let hasNews = false;
      let isDropped = false;
      // Before the stream is read, so that no event is missed.
      const unsubscribe = await subscriptions.subscribe(channelOf(stream), {
        message: (message) => {
          hasNews = true;
          isDropped ||= message === DROPPED;
          if (isDropped) reader?.end();
          else reader?.wake();
        },
        gap: () => {
          hasNews = true;
          reader?.wake();
        },
      });
      try {
        const position = new StreamPosition(engine, place);
        const first = await position.read();
        if (first === undefined) {
          unsubscribe();
          return undefined;
        }
        const own = new EventReader({
          ...{ stream, signal, first, read: () => position.read() },
          release: () => {
            readers.delete(own);
            unsubscribe();
          },
        });
        reader = own;
        readers.add(own);
        if (hasNews) own.wake();
        if (signal.aborted || isDropped) own.end();
        return { stream, gap: first.isGap, events: own };
      } catch (error) {
        unsubscribe();
        throw error;
      }
    },
    async drop(stream) {
      const keys = engine.keyspace.of(stream).stream(stream);
      await engine.send(['DEL', ...keys], { key: keys[0] });
      await engine.run(PUBLISH, { keys: [channelOf(stream)], args: [DROPPED] });
    },
    async close() {
      for (const reader of [...readers]) reader.end();
      subscriptions.end();
      engine.close();
    },
  };
}

type ReadReply = [
  isComplete: number,
  hasEnded: number,
  events: (readonly [id: string, encoding: string, last: string, data: string])[],
];

/** A place in a stream, which moves on with each read. */
class StreamPosition {
  readonly #stream: string;
  readonly #engine: Access;
  #last: string;

  constructor(engine: Access, { stream, id }: { readonly stream: string; readonly id: string }) {
    this.#stream = stream;
    this.#engine = engine;
    this.#last = id;
  }

  /** The events that followed; undefined if there is no such stream. */
  async read(): Promise<EventBatch | undefined> {
    const [key] = this.#engine.keyspace.of(this.#stream).stream(this.#stream);
    const args = [this.#last, String(BATCH)];
    const reply = (await this.#engine.run(READ, { keys: [key], args })) as ReadReply | null;
    if (reply === null) return undefined;
    const [isComplete, hasEnded, found] = reply;
    const events = found.map(([id, encoding, last, data]) => ({
      id: `${this.#stream}-${id}`,
      data: encoding === 'json' ? (JSON.parse(data) as string) : data,
      last: last === '1',
    }));
    this.#last = found.at(-1)?.[0] ?? this.#last;
    return { events, isGap: isComplete !== 1, hasEnded: hasEnded === 1 };
  }
}

function placeOf(id: string): { readonly stream: string; readonly id: string } | undefined {
  const [, stream, number] = /^(.+)-(\d{1,16})$/s.exec(id) ?? [];
  return stream === undefined || number === undefined ? undefined : { stream, id: number };
}
