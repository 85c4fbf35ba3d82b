// The subscriptions of a connection, each an open story.

import type { Client, Subscription } from '../../../client/model/client.js';
import { McpError } from '../../../protocol/errors.js';
import type { SubscriptionView } from '../../contract/connection.js';
import { LISTS } from '../../stories/story-book.js';
import type { StoryRecord } from '../../stories/story-record.js';
import type { Wiretap } from '../../wiretap/wiretap.js';
import { type FailingConnection, failureOf } from './failure.js';
import type { SharedParts } from './shared-parts.js';

/** The connection, as its subscriptions need it. */
export interface Subscribable extends FailingConnection {
  readonly open: { readonly client: Client; readonly tap: Wiretap };
  readonly changed: () => void;
}

const MAX_SUBSCRIPTIONS = 200;

interface Open {
  readonly story: StoryRecord;
  readonly since: number;
  updates: number;
  lastUpdate?: number;
  subscription?: Subscription;
}

export class OpenSubscriptions {
  readonly #connection: Subscribable;
  readonly #shared: SharedParts;
  readonly #open = new Map<string, Open>();
  #lists: StoryRecord | undefined;

  constructor(connection: Subscribable, shared: SharedParts) {
    this.#connection = connection;
    this.#shared = shared;
  }

  get views(): readonly SubscriptionView[] {
    return [...this.#open].map(([uri, { story, since, updates, lastUpdate }]) => ({
      uri,
      since,
      updates,
      ...(lastUpdate !== undefined && { lastUpdate }),
      story: story.id,
    }));
  }

  add(uri: string): StoryRecord {
    const known = this.#open.get(uri);
    if (known !== undefined) return known.story;
    if (this.#open.size >= MAX_SUBSCRIPTIONS)
      throw new McpError(
        'overloaded',
        `There are ${MAX_SUBSCRIPTIONS} subscriptions already. End one first.`,
      );
    const { client, tap } = this.#connection.open;
    const story = this.#begin(uri);
    const open: Open = { story, since: Date.now(), updates: 0 };
    this.#open.set(uri, open);
    story.stop = () => this.remove(uri);
    const onChange = (): void => {
      open.updates++;
      open.lastUpdate = Date.now();
      this.#connection.changed();
    };
    tap.run(story.scope, () =>
      client.subscribe(uri, { onChange }).then(
        (subscription) => {
          if (this.#open.get(uri) !== open) return void subscription.close();
          open.subscription = subscription;
          if (!subscription.accepted.uris?.includes(uri)) this.#refused(uri, open);
        },
        (error: unknown) => this.#failed(uri, open, error),
      ),
    );
    this.#connection.changed();
    return story;
  }

  async remove(uri: string): Promise<void> {
    const open = this.#open.get(uri);
    if (open === undefined)
      throw new McpError('invalid_params', `There is no subscription to ${uri.slice(0, 200)}.`);
    this.#open.delete(uri);
    open.story.end({ state: 'ok' });
    this.#connection.changed();
    await open.subscription?.close();
  }

  /** Listens for changes of the lists, if the server announces them. In a session they come by themselves. */
  async listenToLists(): Promise<void> {
    const { client, tap } = this.#connection.open;
    const { tools, prompts, resources } = client.server.capabilities;
    const to = {
      ...(tools?.listChanged && { tools: true }),
      ...(prompts?.listChanged && { prompts: true }),
      ...(resources?.listChanged && { resources: true }),
    };
    if (Object.keys(to).length === 0) return;
    const story = this.#begin(LISTS);
    this.#lists = story;
    const subscription = await tap
      .run(story.scope, () => client.subscribe(to, { onChange: () => {} }))
      .catch((error: unknown) => {
        story.end({ state: 'error', error: failureOf(this.#connection, error, story.at) });
        return undefined;
      });
    story.stop = async () => {
      story.end({ state: 'ok' });
      await subscription?.close();
    };
  }

  /** The connection is left: nothing arrives any more. */
  end(why: string): void {
    const error = { code: 'connection_closed', message: why };
    for (const { story } of this.#open.values()) story.end({ state: 'cancelled', error });
    this.#lists?.end({ state: 'cancelled', error });
    this.#open.clear();
    this.#lists = undefined;
  }

  #begin(title: string): StoryRecord {
    return this.#shared.book.begin({
      connection: this.#connection.id,
      kind: 'subscription',
      title,
      method: 'subscriptions/listen',
      isOpen: true,
    });
  }

  #refused(uri: string, open: Open): void {
    this.#failed(
      uri,
      open,
      new McpError('invalid_request', `The server does not report changes of ${uri.slice(0, 200)}.`),
    );
    void open.subscription?.close();
  }

  #failed(uri: string, open: Open, error: unknown): void {
    if (this.#open.get(uri) === open) this.#open.delete(uri);
    open.story.end({ state: 'error', error: failureOf(this.#connection, error, open.story.at) });
    this.#connection.changed();
  }
}
