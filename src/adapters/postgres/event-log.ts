// The event log on Postgres.

import { withRetries } from '../../async/with-retries.js';
import { checkKey } from '../../state/changes.js';
import { checkEventSize, type EventLimits, type EventLog, type LoggedEvent } from '../../state/event-log.js';
import { EventReader } from '../../state/event-reader.js';
import { ConnectionLimit } from './database/connection-limit.js';
import type { PostgresDatabase } from './database/database.js';
import type { EventNews } from './event-news.js';

/** The longest time that a reader waits for a database that fails, before it fails too. */
const PATIENCE_MS = 30_000;
/** The limits of what a reader fetches at a time. */
const MAX_BATCH = 200;
const MAX_BATCH_BYTES = 4_000_000;

interface EventRow {
  readonly removed: string;
  readonly newest: string;
  readonly ended: string | null;
  readonly id: string | null;
  readonly data: string;
  readonly quoted: boolean;
  readonly last: boolean;
}

/** A part of a stream, after a position. */
interface Batch {
  readonly removed: number;
  readonly newest: number;
  /** The id of the last event; undefined if the stream continues. */
  readonly ended: number | undefined;
  readonly events: readonly (LoggedEvent & { readonly number: number })[];
}

/** The settings of the event log. */
export interface PostgresEventLogSettings
  extends Pick<Required<EventLimits>, 'maxEventsPerStream' | 'maxEventBytes'> {
  /** The number of streams that are read at a time. */
  readonly maxReads: number;
}

/** Makes the event log of a database. */
export function postgresEventLog(
  database: PostgresDatabase,
  news: EventNews,
  { maxEventsPerStream, maxEventBytes, maxReads }: PostgresEventLogSettings,
): EventLog {
  const { schema, statementTimeoutMs } = database;
  const closing = new AbortController();
  // Thousands of readers may have news at the same time. Writes must not wait for all of them.
  const reads = new ConnectionLimit(
    maxReads,
    PATIENCE_MS,
    () =>
      new Error(
        `The event log was busy for more than ${PATIENCE_MS} ms. Check that the server is not overloaded.`,
      ),
  );
  const append = { name: 'append', text: `SELECT event_id FROM ${schema}.append_1($1, $2, $3, $4, $5, $6)` };
  const read = {
    name: 'read',
    text: `SELECT s.removed, s.newest, s.ended, e.id, e.data, e.quoted, e.last
      FROM ${schema}.stream s LEFT JOIN LATERAL (
        SELECT * FROM (
          SELECT id, data, quoted, last, sum(octet_length(data)) OVER (ORDER BY id) - octet_length(data) AS before
          FROM (SELECT * FROM ${schema}.event WHERE stream = s.id AND id > $2 ORDER BY id LIMIT $3) first
        ) counted WHERE before < ${MAX_BATCH_BYTES}
      ) e ON true WHERE s.name = $1 ORDER BY e.id`,
  };
  const drop = {
    name: 'drop',
    text: `WITH s AS (DELETE FROM ${schema}.stream WHERE name = $1 RETURNING id)
      DELETE FROM ${schema}.event e USING s WHERE e.stream = s.id`,
  };

  async function readBatch(stream: string, position: number, limit = MAX_BATCH): Promise<Batch | undefined> {
    const rows = await reads.run(() => database.query<EventRow>(read, [stream, position, limit]));
    const [first] = rows;
    if (first === undefined) return undefined;
    return {
      removed: Number(first.removed),
      newest: Number(first.newest),
      ended: first.ended === null ? undefined : Number(first.ended),
      events: rows
        .filter(({ id }) => id !== null)
        .map(({ id, data, quoted, last }) => ({
          number: Number(id),
          id: idOf(stream, Number(id)),
          data: quoted ? (JSON.parse(data) as string) : data,
          last,
        })),
    };
  }

  /** Reads again while the database fails, so that readers survive a restart of the server. */
  function readPatiently(stream: string, position: number, signal: AbortSignal): Promise<Batch | undefined> {
    const isFinal = (): boolean => closing.signal.aborted;
    const patience = { baseMs: 50, maxMs: 2000, forMs: PATIENCE_MS, unref: true };
    return withRetries(() => readBatch(stream, position), { ...patience, until: { signal }, isFinal });
  }

  function events(stream: string, after: number, signal: AbortSignal): EventReader {
    const watched = {
      stream,
      position: after,
      wake: () => reader.wake(),
      end: (error: Error) => reader.end(error),
    };
    const reader: EventReader = new EventReader({
      ...{ stream, signal },
      async read() {
        const batch = await readPatiently(stream, watched.position, signal);
        if (batch === undefined) return undefined;
        const isGap = batch.removed > watched.position;
        watched.position = batch.events.at(-1)?.number ?? watched.position;
        const hasEnded = batch.ended !== undefined && watched.position >= batch.ended;
        return { events: batch.events.map(({ number: _, ...event }) => event), isGap, hasEnded };
      },
      release: () => news.remove(watched),
    });
    if (!signal.aborted) news.add(watched);
    return reader;
  }

  return {
    async append(stream, data, { last = false } = {}) {
      checkKey(stream);
      checkEventSize(Buffer.byteLength(data), maxEventBytes);
      // Text cannot have this character, and the client would replace a surrogate without its other half.
      const isQuoted = /[\0\p{Cs}]/u.test(data);
      const [row] = await database.query<{ readonly event_id: string }>(append, [
        stream,
        isQuoted ? JSON.stringify(data) : data,
        isQuoted,
        last,
        maxEventsPerStream,
        statementTimeoutMs,
      ]);
      news.announce(stream);
      return idOf(stream, Number(row?.event_id));
    },
    async follow(after, signal) {
      const parsed = parseId(after);
      const batch = parsed && (await readBatch(parsed.stream, parsed.number, 0));
      if (batch === undefined) return undefined;
      const { stream, number } = parsed as { readonly stream: string; readonly number: number };
      // An id that is newer than the stream's newest one was lost in a crash of the server, with what followed it.
      const isKnown = number >= batch.removed && number <= batch.newest;
      const from = isKnown ? number : Math.min(Math.max(number, batch.removed), batch.newest);
      return { stream, gap: !isKnown, events: events(stream, from, signal) };
    },
    async drop(stream) {
      if (/[\p{Cc}\p{Cs}]/u.test(stream)) return;
      await database.query(drop, [stream]);
      news.announce(stream);
    },
    async close() {
      closing.abort();
      news.close();
    },
  };
}

function idOf(stream: string, number: number): string {
  return `${stream}-${number.toString(36)}`;
}

function parseId(id: string): { readonly stream: string; readonly number: number } | undefined {
  const dash = id.lastIndexOf('-');
  const digits = id.slice(dash + 1);
  if (dash < 1 || !/^[0-9a-z]{1,11}$/.test(digits) || /[\p{Cc}\p{Cs}]/u.test(id)) return undefined;
  const number = Number.parseInt(digits, 36);
  return Number.isSafeInteger(number) ? { stream: id.slice(0, dash), number } : undefined;
}
