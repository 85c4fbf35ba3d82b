// Clients that let the server emit events, and clients that follow them, by poll or by stream.

import type { Follower } from '../checks/told-events.js';
import type { Client } from './client.js';

/** The name of the type. */
const NAME = 'happened';
const AGAIN_MS = 300;
const POLL_MS = 1000;
const RECONNECT_MS = 200;
const FOREVER_MS = 100_000_000;
/** The time after the last emit in which a follower must have been told everything. */
const LATE_MS = 60_000;

/** Emits events one after the other. Each is repeated under its id until the server says that it is kept. */
export async function publish(client: Client, count: number, followers: number): Promise<void> {
  const { world, ledger, actor } = client;
  const { events } = ledger;
  events.publishing++;
  while (events.followers.length < followers) await world.sleep(POLL_MS);
  for (let n = 1; n <= count; n++) {
    const id = `${actor.name.replace(' ', '-')}_${n}`;
    for (;;) {
      const timeoutMs = world.random.between(1000, 8000);
      const reply = await client.call('tools/call', { name: 'tell', arguments: { id } }, { timeoutMs });
      if ('outcome' in reply && reply.outcome['isError'] !== true) break;
      await world.sleep(AGAIN_MS * world.random.between(0.5, 2));
    }
    events.emitted.add(id);
  }
  events.publishing--;
}

/** Follows all events from now on, until it was told everything that was emitted. */
export async function follow(client: Client, way: 'poll' | 'stream'): Promise<void> {
  const { world, ledger, actor } = client;
  const { events } = ledger;
  const begin = await beginning(client);
  const follower = events.newFollower(actor.name);
  const isOver = (): boolean => events.publishing === 0 && events.missingFor(follower).length === 0;
  if (way === 'stream') void followStream(client, follower, { cursor: begin, isOver });
  let cursor: unknown = begin;
  for (let lateMs = 0; !isOver(); ) {
    if (way === 'poll') cursor = await pollOnce(client, follower, cursor);
    await world.sleep(POLL_MS);
    if (events.publishing > 0 || world.isFaulty) continue;
    lateMs += POLL_MS;
    if (lateMs > LATE_MS) return events.onMissing(actor.name, events.missingFor(follower));
  }
}

/** The position of now. */
async function beginning(client: Client): Promise<unknown> {
  for (;;) {
    const reply = await client.call('events/poll', { name: NAME, cursor: null });
    if ('outcome' in reply) return reply.outcome['cursor'];
    await client.world.sleep(AGAIN_MS);
  }
}

async function pollOnce(client: Client, follower: Follower, cursor: unknown): Promise<unknown> {
  const maxEvents = client.world.random.whole(1, 5);
  const reply = await client.call('events/poll', { name: NAME, cursor, maxEvents });
  if (!('outcome' in reply)) return cursor;
  const { events, truncated, cursor: next } = reply.outcome;
  if (truncated === true) follower.onGap();
  for (const { eventId } of events as { eventId: string }[]) follower.onEvent(eventId);
  return next;
}

async function followStream(
  client: Client,
  follower: Follower,
  { cursor: begin, isOver }: { readonly cursor: unknown; readonly isOver: () => boolean },
): Promise<void> {
  let cursor = begin;
  for (let stream = 1; !isOver(); stream++) {
    const own = stream;
    await client.call(
      'events/stream',
      { name: NAME, cursor },
      {
        timeoutMs: FOREVER_MS,
        onNotification(method, params) {
          // A stream that was given up may still have something to say.
          if (own !== stream) return;
          if (params['truncated'] === true) follower.onGap();
          if (method === 'notifications/events/event') follower.onEvent(String(params['eventId']));
          if (typeof params['cursor'] === 'string') cursor = params['cursor'];
        },
      },
    );
    await client.world.sleep(RECONNECT_MS);
  }
}
