// The events for the page: changes of the same thing are put together, and the latest events are kept for pages that reconnect.

import type { ChatView } from '../contract/chat.js';
import type { ConnectionView } from '../contract/connection.js';
import type { ToldEvent } from '../contract/events.js';
import type { InspectorEvent } from '../contract/inspector.js';
import type { LogLine, MessageHead } from '../contract/message.js';
import type { Story } from '../contract/story.js';

const MAX_EVENTS = 5000;
/** Messages, log lines and events of servers in the events that are kept. */
const MAX_ITEMS = 25_000;
const MAX_BATCH = 500;
const FRAME_MS = 20;

/** An event without its number. */
export type FeedChange = InspectorEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, 'seq'>
    : never
  : never;

/** The current state of what an event is about. Only the state is kept with an event of it, not a copy. */
export interface CurrentViews {
  readonly connection: (id: string) => ConnectionView | undefined;
  readonly story: (id: number) => Story | undefined;
  readonly chat: (connection: string) => ChatView | undefined;
}

type Kept =
  | { readonly seq: number; readonly connection: string }
  | { readonly seq: number; readonly story: number }
  | { readonly seq: number; readonly chat: string }
  | { readonly seq: number; readonly items: number; readonly event: InspectorEvent };

export class Feed {
  readonly #views: CurrentViews;
  readonly #listeners = new Set<(event: InspectorEvent) => void>();
  readonly #connections = new Set<string>();
  readonly #stories = new Set<number>();
  readonly #chats = new Set<string>();
  #messages: MessageHead[] = [];
  #logs: LogLine[] = [];
  #told: ToldEvent[] = [];
  #kept: Kept[] = [];
  #keptItems = 0;
  #seq = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(views: CurrentViews) {
    this.#views = views;
  }

  /** The number of the latest event. Everything that has happened is in it. */
  get seq(): number {
    this.flush();
    return this.#seq;
  }

  subscribe(listener: (event: InspectorEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  connectionChanged(id: string): void {
    this.#connections.add(id);
    this.#schedule();
  }

  storyChanged(id: number): void {
    this.#stories.add(id);
    this.#schedule();
  }

  chatChanged(connection: string): void {
    this.#chats.add(connection);
    this.#schedule();
  }

  message(head: MessageHead): void {
    this.#messages.push(head);
    if (this.#messages.length >= MAX_BATCH) this.#flushMessages();
    else this.#schedule();
  }

  log(line: LogLine): void {
    this.#logs.push(line);
    if (this.#logs.length >= MAX_BATCH) this.#flushLogs();
    else this.#schedule();
  }

  told(event: ToldEvent): void {
    this.#told.push(event);
    if (this.#told.length >= MAX_BATCH) this.#flushTold();
    else this.#schedule();
  }

  /** Sends a change at once, after everything before it. */
  emit(change: FeedChange): void {
    this.flush();
    this.#send(change);
  }

  /** The events after `seq`, each thing in its current state; undefined if some of them are no longer kept. */
  after(seq: number): readonly InspectorEvent[] | undefined {
    this.flush();
    if (seq > this.#seq || seq < this.#seq - this.#kept.length) return undefined;
    const missed = this.#kept.filter((kept) => kept.seq > seq);
    const latest = new Map(missed.map((kept) => [keyOf(kept), kept.seq]));
    return missed.flatMap((kept) => (latest.get(keyOf(kept)) === kept.seq ? this.#eventOf(kept) : []));
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushMessages();
    this.#flushLogs();
    this.#flushTold();
    const [connections, stories, chats] = [[...this.#connections], [...this.#stories], [...this.#chats]];
    this.#connections.clear();
    this.#stories.clear();
    this.#chats.clear();
    for (const id of connections) {
      const connection = this.#views.connection(id);
      if (connection) this.#send({ type: 'connection', connection });
    }
    for (const id of stories) {
      const story = this.#views.story(id);
      if (story) this.#send({ type: 'story', story });
    }
    for (const connection of chats) this.#send({ type: 'chat', connection, ...this.#chatOf(connection) });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #flushMessages(): void {
    const messages = this.#messages;
    this.#messages = [];
    if (messages.length > 0) this.#send({ type: 'messages', messages });
  }

  #flushLogs(): void {
    const lines = this.#logs;
    this.#logs = [];
    if (lines.length > 0) this.#send({ type: 'logs', lines });
  }

  #flushTold(): void {
    const events = this.#told;
    this.#told = [];
    if (events.length > 0) this.#send({ type: 'told', events });
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.flush(), FRAME_MS);
  }

  #send(change: FeedChange): void {
    const event = { seq: ++this.#seq, ...change } as InspectorEvent;
    this.#keep(event);
    for (const listener of [...this.#listeners]) listener(event);
  }

  #keep(event: InspectorEvent): void {
    const { seq } = event;
    const items = itemsIn(event);
    this.#keptItems += items;
    if (event.type === 'connection') this.#kept.push({ seq, connection: event.connection.id });
    else if (event.type === 'story') this.#kept.push({ seq, story: event.story.id });
    else if (event.type === 'chat') this.#kept.push({ seq, chat: event.connection });
    else this.#kept.push({ seq, items, event });
    while (this.#kept.length > MAX_EVENTS || this.#keptItems > MAX_ITEMS) {
      const oldest = this.#kept.shift();
      if (oldest === undefined) break;
      if ('items' in oldest) this.#keptItems -= oldest.items;
    }
  }

  #chatOf(connection: string): { readonly chat?: ChatView } {
    const chat = this.#views.chat(connection);
    return chat === undefined ? {} : { chat };
  }

  #eventOf(kept: Kept): readonly InspectorEvent[] {
    if ('event' in kept) return [kept.event];
    const { seq } = kept;
    if ('story' in kept) {
      const story = this.#views.story(kept.story);
      return story ? [{ seq, type: 'story', story }] : [];
    }
    if ('chat' in kept) return [{ seq, type: 'chat', connection: kept.chat, ...this.#chatOf(kept.chat) }];
    const connection = this.#views.connection(kept.connection);
    return connection ? [{ seq, type: 'connection', connection }] : [];
  }
}

function itemsIn(event: InspectorEvent): number {
  if (event.type === 'messages') return event.messages.length;
  if (event.type === 'told') return event.events.length;
  return event.type === 'logs' ? event.lines.length : 0;
}

function keyOf(kept: Kept): string {
  if ('story' in kept) return `story ${kept.story}`;
  if ('chat' in kept) return `chat ${kept.chat}`;
  return 'connection' in kept ? `connection ${kept.connection}` : `event ${kept.seq}`;
}
