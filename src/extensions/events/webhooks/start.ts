// The position at which a new subscription begins.

import type { EventHistory } from '../log/event-history.js';
import type { LogPosition } from '../log/positions.js';
import type { RequestedTimes } from './requests.js';

/** The beginning of a subscription. */
export interface Start {
  readonly start: LogPosition;
  /** The position after the newest event. */
  readonly tail: LogPosition;
  /** Whether events that the client asked for are missing. */
  readonly isTruncated: boolean;
}

const PAGE = 200;

/** Finds the beginning. Without a cursor, it is now. */
export async function startOf(
  history: EventHistory,
  { cursor, maxAgeMs }: Pick<RequestedTimes, 'cursor' | 'maxAgeMs'>,
): Promise<Start> {
  const tail = await history.tail();
  if (cursor === null) return { start: tail, tail, isTruncated: false };
  const given = history.positionOf(cursor);
  if (given === undefined || history.compare(given, tail) > 0)
    return { start: tail, tail, isTruncated: true };
  const { isTruncated } = await history.read(given, 1);
  const start = maxAgeMs === undefined ? given : await firstWithin(history, given, { maxAgeMs, tail });
  return { start, tail, isTruncated: isTruncated || history.compare(start, given) > 0 };
}

/** The position before the first event that is young enough. */
async function firstWithin(
  history: EventHistory,
  after: LogPosition,
  { maxAgeMs, tail }: { readonly maxAgeMs: number; readonly tail: LogPosition },
): Promise<LogPosition> {
  const oldest = Date.now() - maxAgeMs;
  let before = after;
  for (;;) {
    const { events, hasMore } = await history.read(before, PAGE);
    for (const { timestamp, position } of events) {
      if (Date.parse(timestamp) >= oldest) return before;
      before = position;
    }
    if (!hasMore || history.compare(before, tail) >= 0) return before;
  }
}
