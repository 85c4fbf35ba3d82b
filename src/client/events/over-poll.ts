// Events by polling: `events/poll`, again and again.

import { unlessAborted } from '../../async/abort.js';
import { delay } from '../../async/delay.js';
import type { Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { eventMethods } from '../../protocol/events/offer.js';
import { MIN_POLL_MS } from '../../protocol/events/wire.js';
import type { FollowParts } from './over-stream.js';
import { readCursor, readEvent } from './read-events.js';

/** The time between two polls if the server does not name one. */
const DEFAULT_POLL_MS = 10_000;
const MAX_POLL_MS = 86_400_000;
/** The empty answers in a row that are followed by the next poll at once because the server says that it has more. */
const MAX_EMPTY = 5;

/** Polls until a poll fails, and rejects with its failure. */
export async function followPolls(parts: FollowParts, signal: AbortSignal): Promise<never> {
  const { sender, name, args, inbox, onActive } = parts;
  let empty = 0;
  for (;;) {
    const params = { name, arguments: args, cursor: inbox.received };
    const outcome = await sender.sendFresh(eventMethods.poll, params, { signal });
    const count = takeAll(outcome, parts);
    onActive();
    await unlessAborted(inbox.idle(), signal);
    empty = count === 0 ? empty + 1 : 0;
    if (outcome['hasMore'] === true && empty < MAX_EMPTY) continue;
    await delay(pauseMs(outcome['nextPollMs']), { signal });
  }
}

/** Takes the events of an answer, and then the position after them. Returns their number. */
function takeAll(outcome: Outcome, { name, inbox, onGap, problem }: FollowParts): number {
  const { events } = outcome;
  if (!Array.isArray(events))
    throw new McpError('bad_response', 'The answer to events/poll needs "events", an array');
  let skipped: string | undefined;
  for (const each of events) {
    const event = readEvent(each, name);
    if (typeof event === 'string') skipped ??= event;
    // A null in the middle would lose the rest if the client were restarted: the answer itself has the position that counts.
    else inbox.take(event, event.cursor ?? undefined);
  }
  if (skipped !== undefined) problem(`Events of ${name} were skipped: ${skipped}`);
  if (outcome['truncated'] === true) onGap();
  inbox.move(readCursor(outcome) ?? null);
  return events.length;
}

function pauseMs(asked: unknown): number {
  const ms = typeof asked === 'number' && Number.isFinite(asked) ? asked : DEFAULT_POLL_MS;
  return Math.min(Math.max(ms, MIN_POLL_MS), MAX_POLL_MS);
}
