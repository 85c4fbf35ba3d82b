// Everything that the page knows, as signals. The process behind the page is the only one that changes it.

import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { ChatView } from '../../src/inspector/contract/chat.js';
import type { CatalogView, ConnectionView, FoundServer } from '../../src/inspector/contract/connection.js';
import type { ToldEvent } from '../../src/inspector/contract/events.js';
import type { HistoryView, InspectorEvent, PageSnapshot } from '../../src/inspector/contract/inspector.js';
import type { LogLine, MessageHead } from '../../src/inspector/contract/message.js';
import type { QuestionView, Story } from '../../src/inspector/contract/story.js';
import type { TapeView } from '../../src/inspector/contract/tape.js';
import { fetchCatalog } from './api.js';

const MAX_MESSAGES = 20_000;
const MAX_LOGS = 5000;
const MAX_TOLD = 500;
/** More than the process keeps: it does not say which ones it has dropped. */
const MAX_STORIES = 4000;

/** Whether the page hears from its process. */
export const live: Signal<'starting' | 'live' | 'lost'> = signal('starting');
export const version: Signal<string> = signal('');
export const mayConnect: Signal<boolean> = signal(true);
export const sandboxOrigin: Signal<string | undefined> = signal(undefined);
/** The name of the file in which the project keeps requests; undefined if there is none to write to. */
export const requestsFile: Signal<string | undefined> = signal(undefined);
/** The history of the project; undefined if calls are not kept for later visits. */
export const history: Signal<HistoryView | undefined> = signal(undefined);
/** The tool to open first, until it was opened. */
export const firstTool: Signal<string | undefined> = signal(undefined);
export const connections: Signal<ReadonlyMap<string, ConnectionView>> = signal(new Map());
export const found: Signal<readonly FoundServer[]> = signal([]);
export const tapes: Signal<ReadonlyMap<string, TapeView>> = signal(new Map());
/** The chats with models, by connection. */
export const chats: Signal<ReadonlyMap<string, ChatView>> = signal(new Map());
/** By id, in the order of their beginning. */
export const stories: Signal<ReadonlyMap<number, Story>> = signal(new Map());
/** In order. The array is new for each change. */
export const messages: Signal<readonly MessageHead[]> = signal([]);
export const logs: Signal<readonly LogLine[]> = signal([]);
/** The events that servers have told, in order. */
export const told: Signal<readonly ToldEvent[]> = signal([]);
export const catalogs: Signal<ReadonlyMap<string, CatalogView>> = signal(new Map());

/** The connection that the page shows. */
export const current: Signal<string | undefined> = signal(undefined);
export const connection: ReadonlySignal<ConnectionView | undefined> = computed(() =>
  current.value === undefined ? undefined : connections.value.get(current.value),
);
export const catalog: ReadonlySignal<CatalogView | undefined> = computed(() =>
  current.value === undefined ? undefined : catalogs.value.get(current.value),
);
/** The stories of the connection that the page shows, oldest first. */
export const ownStories: ReadonlySignal<readonly Story[]> = computed(() =>
  [...stories.value.values()].filter((story) => story.connection === current.value),
);
/** The questions that wait for the user, on all connections, oldest first. One that is shown in several calls counts once. */
export const openQuestions: ReadonlySignal<readonly { story: Story; question: QuestionView }[]> = computed(
  () =>
    [...stories.value.values()].flatMap((story) =>
      story.questions
        .filter(
          ({ answeredAt, gone, mayBeOf }) =>
            answeredAt === undefined && gone === undefined && (mayBeOf?.[0]?.story ?? story.id) === story.id,
        )
        .map((question) => ({ story, question })),
    ),
);

let seq = 0;
/** The number of the latest event that was taken. */
export const latestSeq = (): number => seq;

export function takeSnapshot(snapshot: PageSnapshot): void {
  batch(() => {
    seq = snapshot.seq;
    version.value = snapshot.version;
    mayConnect.value = snapshot.mayConnect;
    sandboxOrigin.value = snapshot.sandboxOrigin;
    requestsFile.value = snapshot.requestsFile;
    history.value = snapshot.history;
    // A snapshot that is taken again, after events were missed, does not move the page.
    if (current.value === undefined) firstTool.value = snapshot.first?.tool;
    connections.value = new Map(snapshot.connections.map((each) => [each.id, each]));
    stories.value = new Map(snapshot.stories.map((each) => [each.id, each]));
    messages.value = snapshot.messages;
    logs.value = snapshot.logs;
    told.value = snapshot.told;
    found.value = snapshot.found;
    tapes.value = new Map(snapshot.tapes.map((each) => [each.id, each]));
    chats.value = new Map(snapshot.chats.map((each) => [each.connection, each]));
    if (current.value === undefined || !connections.value.has(current.value))
      current.value = snapshot.first?.connection ?? snapshot.connections[0]?.id;
  });
  for (const each of snapshot.connections) refreshCatalog(each);
}

/** Takes events in order; those that are in the snapshot already are skipped. */
export function takeEvents(events: readonly InspectorEvent[]): void {
  copied = {};
  batch(() => {
    for (const event of events) {
      if (event.seq <= seq) continue;
      seq = event.seq;
      take(event);
    }
    if (messages.value.length > MAX_MESSAGES) messages.value = messages.value.slice(-MAX_MESSAGES);
    if (stories.value.size > MAX_STORIES) stories.value = latestStories(stories.value);
  });
}

// A burst of events copies each collection once. A copy of this batch is changed in place: nobody has read it yet.
let copied: { stories?: Map<number, Story>; messages?: MessageHead[] } = {};

function take(event: InspectorEvent): void {
  switch (event.type) {
    case 'connection':
      connections.value = new Map(connections.value).set(event.connection.id, event.connection);
      current.value ??= event.connection.id;
      refreshCatalog(event.connection);
      return;
    case 'disconnected':
      connections.value = without(connections.value, event.id);
      stories.value = new Map([...stories.value].filter(([, story]) => story.connection !== event.id));
      messages.value = messages.value.filter((message) => message.connection !== event.id);
      if (current.value === event.id) current.value = connections.value.keys().next().value;
      return;
    case 'story':
      if (copied.stories === undefined || copied.stories !== stories.value) {
        copied.stories = new Map(stories.value);
        stories.value = copied.stories;
      }
      copied.stories.set(event.story.id, event.story);
      return;
    case 'messages':
      if (copied.messages === undefined || copied.messages !== messages.value) {
        copied.messages = [...messages.value];
        messages.value = copied.messages;
      }
      for (const head of event.messages) copied.messages.push(head);
      return;
    case 'logs':
      logs.value = [...logs.value, ...event.lines].slice(-MAX_LOGS);
      return;
    case 'told':
      told.value = [...told.value, ...event.events].slice(-MAX_TOLD);
      return;
    case 'cleared': {
      const kept = new Set(event.kept);
      stories.value = new Map(
        [...stories.value].filter(([id, story]) => story.connection !== event.connection || kept.has(id)),
      );
      messages.value = messages.value.filter(
        ({ connection, story }) =>
          connection !== event.connection || (story !== undefined && kept.has(story)),
      );
      return;
    }
    case 'found':
      found.value = event.found;
      return;
    case 'tape':
      tapes.value = new Map(tapes.value).set(event.tape.id, event.tape);
      return;
    case 'history':
      history.value = event.history;
      return;
    case 'chat':
      chats.value = without(chats.value, event.connection);
      if (event.chat) chats.value = new Map(chats.value).set(event.connection, event.chat);
  }
}

/** Without the oldest ones, except those that are pinned or not over. */
function latestStories(all: ReadonlyMap<number, Story>): ReadonlyMap<number, Story> {
  const kept = new Map(all);
  for (const { id, isPinned, endedAt } of all.values()) {
    if (kept.size <= MAX_STORIES) break;
    if (!isPinned && endedAt !== undefined) kept.delete(id);
  }
  return kept;
}

const catalogVersions = new Map<string, number>();

function refreshCatalog({ id, catalogVersion }: ConnectionView): void {
  if (catalogVersion === 0 || catalogVersions.get(id) === catalogVersion) return;
  catalogVersions.set(id, catalogVersion);
  fetchCatalog(id).then(
    (view) => {
      catalogs.value = new Map(catalogs.value).set(id, view);
    },
    () => catalogVersions.delete(id),
  );
}

function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  const next = new Map(map);
  next.delete(key);
  return next;
}
