// The events of a connection: the types that are followed, each an open story, and the places up to which types were polled.

import type { Client, EventStore, FollowedEvents, ReceivedEvent } from '../../../client/model/client.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Outcome } from '../../../protocol/call.js';
import { McpError } from '../../../protocol/errors.js';
import { eventMethods } from '../../../protocol/events/offer.js';
import type { FollowView, ToldEvent } from '../../contract/events.js';
import type { StoryRecord } from '../../stories/story-record.js';
import { failureOf } from './failure.js';
import type { SharedParts } from './shared-parts.js';
import type { Subscribable } from './subscriptions.js';

const MAX_FOLLOWED = 50;
const MAX_DATA = 4000;

interface Open {
  readonly story: StoryRecord;
  readonly since: number;
  readonly closing: AbortController;
  via?: ToldEvent['via'];
  count: number;
  hasGap: boolean;
}

export class EventFollower {
  readonly #connection: Subscribable;
  readonly #shared: SharedParts;
  readonly #open = new Map<string, Open>();
  /** The cursors after the last poll or event, by type and arguments. */
  readonly #cursors = new Map<string, string>();

  constructor(connection: Subscribable, shared: SharedParts) {
    this.#connection = connection;
    this.#shared = shared;
  }

  get views(): readonly FollowView[] {
    return [...this.#open].map(([name, { story, since, via, count, hasGap }]) => ({
      ...{ name, since, count, hasGap, story: story.id },
      ...(via !== undefined && { via }),
    }));
  }

  /** Follows a type. It is followed once: with other arguments, the earlier subscription ends. */
  follow(name: string, args: JsonObject): StoryRecord {
    this.stop(name);
    if (this.#open.size >= MAX_FOLLOWED)
      throw new McpError(
        'overloaded',
        `${MAX_FOLLOWED} types of events are followed already. Stop one first.`,
      );
    const { client, tap } = this.#connection.open;
    const story = this.#shared.book.begin({
      connection: this.#connection.id,
      kind: 'subscription',
      title: name,
      method: eventMethods.stream,
      args,
      isOpen: true,
    });
    const open: Open = { story, since: Date.now(), closing: new AbortController(), count: 0, hasGap: false };
    this.#open.set(name, open);
    story.stop = () => this.stop(name, open);
    tap.run(story.scope, () =>
      this.#subscribe(client, { name, args, open }).then(
        (followed) => this.#accepted(name, open, followed),
        (error: unknown) => this.#ended(name, open, error),
      ),
    );
    this.#connection.changed();
    return story;
  }

  /** Stops to follow a type, if it is followed. */
  stop(name: string, only: Open | undefined = this.#open.get(name)): void {
    if (only === undefined || this.#open.get(name) !== only) return;
    this.#open.delete(name);
    only.closing.abort();
    only.story.end({ state: 'ok' });
    this.#connection.changed();
  }

  /** The parameters of the next poll: it continues after the one before. */
  pollParams(name: string, args: JsonObject): JsonObject {
    return { name, arguments: args, cursor: this.#cursors.get(keyOf(name, args)) ?? null };
  }

  /** Takes the answer to a poll. */
  polled(params: JsonObject, outcome: Outcome): void {
    const { name, arguments: args } = params as { name: string; arguments: JsonObject };
    const { events, cursor } = outcome;
    if (typeof cursor === 'string') this.#cursors.set(keyOf(name, args), cursor);
    for (const event of Array.isArray(events) ? events.filter(isObject) : [])
      this.#tell('poll', {
        name,
        eventId: String(event['eventId']),
        timestamp: String(event['timestamp']),
        data: event['data'],
      });
  }

  /** The connection is left: nothing arrives any more. */
  end(why: string): void {
    const error = { code: 'connection_closed', message: why };
    for (const { story, closing } of this.#open.values()) {
      closing.abort();
      story.end({ state: 'cancelled', error });
    }
    this.#open.clear();
    this.#cursors.clear();
  }

  #subscribe(
    client: Client,
    { name, args, open }: { readonly name: string; readonly args: JsonObject; readonly open: Open },
  ): Promise<FollowedEvents> {
    const take = (event: ReceivedEvent): void => {
      open.count++;
      this.#tell(open.via ?? 'push', event);
      this.#connection.changed();
    };
    return client.on(name, args, take, {
      store: this.#positionOf(keyOf(name, args)),
      signal: open.closing.signal,
      onGap: () => {
        open.hasGap = true;
        this.#connection.changed();
      },
    });
  }

  /** Following continues where a poll has stopped, and the other way round. */
  #positionOf(key: string): EventStore {
    return {
      get: async () => {
        const cursor = this.#cursors.get(key);
        return cursor === undefined ? undefined : JSON.stringify({ cursor });
      },
      set: async (_key, value) => {
        const { cursor } = JSON.parse(value) as { cursor: string | null };
        if (cursor !== null) this.#cursors.set(key, cursor);
        return true;
      },
      delete: async () => undefined,
    };
  }

  #accepted(name: string, open: Open, followed: FollowedEvents): void {
    open.via = followed.delivery;
    this.#connection.changed();
    void followed.ended.then((reason) => {
      if (reason !== undefined) this.#ended(name, open, reason);
    });
  }

  #ended(name: string, open: Open, error: unknown): void {
    if (this.#open.get(name) !== open) return;
    this.#open.delete(name);
    open.story.end({ state: 'error', error: failureOf(this.#connection, error, open.story.at) });
    this.#connection.changed();
  }

  #tell(
    via: ToldEvent['via'],
    {
      name,
      eventId,
      timestamp,
      data,
    }: Pick<ReceivedEvent, 'name' | 'eventId' | 'timestamp'> & { data: unknown },
  ): void {
    const text = this.#connection.mask(JSON.stringify(data) ?? '');
    this.#shared.tell({
      ...{ connection: this.#connection.id, via, name: name.slice(0, 200) },
      ...{ eventId: eventId.slice(0, 200), timestamp: timestamp.slice(0, 60) },
      ...{ data: text.slice(0, MAX_DATA), isCut: text.length > MAX_DATA },
    });
  }
}

function keyOf(name: string, args: JsonObject): string {
  return `${name} ${JSON.stringify(args)}`;
}
