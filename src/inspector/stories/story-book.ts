// All stories of the inspector, within bounds.

import type { Story } from '../contract/story.js';
import type { ReadMessage, Scope } from '../wiretap/seen.js';
import type { Feed } from './feed.js';
import type { KeptRun } from './kept-run.js';
import { relatedTask } from './read-task.js';
import { MAX_TITLE, type NewStory, StoryRecord } from './story-record.js';

const MAX_STORIES = 2000;
/** All outcomes together, in characters. */
const MAX_OUTCOMES = 64 * 1024 * 1024;
/** The outcomes that a snapshot has in it. The page fetches the others. */
const MAX_IN_SNAPSHOT = 4 * 1024 * 1024;

/** The latest calls that show a question which may be theirs. */
const MAX_ASKERS = 20;

const CALLS: ReadonlySet<string> = new Set(['tool', 'task', 'read', 'prompt', 'request']);

/** The title of the story that listens for changes of the lists. */
export const LISTS = 'changes of the lists';

export class StoryBook {
  readonly #feed: Pick<Feed, 'storyChanged'>;
  readonly #stories = new Map<number, StoryRecord>();
  readonly #unsolicited = new Map<string, StoryRecord>();
  /** Those that were not over when this was last looked at. */
  readonly #open = new Set<StoryRecord>();
  #last = 0;

  constructor(feed: Pick<Feed, 'storyChanged'>) {
    this.#feed = feed;
  }

  begin(init: Omit<NewStory, 'id' | 'run' | 'onChange'>): StoryRecord {
    const id = ++this.#last;
    const run = this.#runsOf(init) + 1;
    const story = new StoryRecord({ ...init, id, run, onChange: () => this.#feed.storyChanged(id) });
    this.#stories.set(id, story);
    this.#open.add(story);
    this.#drop();
    this.#feed.storyChanged(id);
    return story;
  }

  /** The number of the latest run of the same. It is read from what is kept, so that nothing else has to be bounded. */
  #runsOf({ connection, method, title }: Pick<NewStory, 'connection' | 'method' | 'title'>): number {
    const shown = title.slice(0, MAX_TITLE);
    let latest = 0;
    for (const story of this.#stories.values())
      if (story.title === shown && story.method === method && story.connection === connection)
        latest = story.run;
    return latest;
  }

  /** Adds the runs of earlier visits to a new connection, oldest first. Those that the page shows already are left out. */
  restore(connection: string, runs: readonly KeptRun[]): void {
    const shown = new Set([...this.#stories.values()].map(({ keptAs }) => keptAs));
    for (const earlier of runs) {
      if (shown.has(earlier.id)) continue;
      const { kind, title, method, args } = earlier;
      this.begin({ connection, kind, title, method, args, earlier });
    }
  }

  get(id: number): StoryRecord | undefined {
    return this.#stories.get(id);
  }

  /** All stories, oldest first. Only the latest outcomes are in them. */
  views(): readonly Story[] {
    let bytes = 0;
    return [...this.#stories.values()]
      .reverse()
      .map(({ view }) => {
        bytes += view.outcome === undefined ? 0 : (view.outcomeBytes ?? 0);
        if (bytes <= MAX_IN_SNAPSHOT) return view;
        const { outcome: _, ...rest } = view;
        return rest;
      })
      .reverse();
  }

  of(connection: string): readonly StoryRecord[] {
    return [...this.#stories.values()].filter((story) => story.connection === connection);
  }

  /** The stories of a connection that are not over. */
  open(connection: string): readonly StoryRecord[] {
    for (const story of this.#open) if (story.isOver) this.#open.delete(story);
    return [...this.#open].filter((story) => story.connection === connection);
  }

  /** The calls of a connection that run, and that a server may ask for: not lists, or what belongs to the connection itself. */
  runningCalls(connection: string): readonly StoryRecord[] {
    return this.open(connection).filter(({ kind }) => CALLS.has(kind));
  }

  /** The running calls whose handlers are at work. In the newest revision, a call that waits for an answer is not with the server. */
  workingCalls(connection: string): readonly StoryRecord[] {
    return this.runningCalls(connection).filter(({ rounds }) => rounds.at(-1)?.outcome !== 'asks');
  }

  /** The stories that a question may belong to which nothing explains: each call that runs, or the one of what belongs to no call. */
  askers(connection: string): readonly [StoryRecord, ...StoryRecord[]] {
    const [first, ...others] = this.workingCalls(connection).slice(-MAX_ASKERS);
    return first === undefined ? [this.unsolicited(connection)] : [first, ...others];
  }

  /** The story of everything that belongs to no call. */
  unsolicited(connection: string): StoryRecord {
    const known = this.#unsolicited.get(connection);
    if (known !== undefined && this.#stories.has(known.id)) return known;
    const story = this.begin({
      connection,
      kind: 'unsolicited',
      title: 'unsolicited',
      method: '',
      isOpen: true,
    });
    this.#unsolicited.set(connection, story);
    return story;
  }

  /** The scope of a message that no request explains: by what it names, or else that of the only call that runs. */
  ownerOf(connection: string, message: ReadMessage): Scope {
    const { method = '', params } = message;
    const open = this.open(connection);
    const task = relatedTask(params);
    if (task !== undefined) {
      const own = open.find((story) => story.task?.id === task);
      if (own !== undefined) return own.scope;
    }
    if (method === 'notifications/resources/updated') {
      const uri = String(params?.['uri'] ?? '');
      const own = open.find((story) => story.kind === 'subscription' && covers(story.title, uri));
      return (own ?? this.unsolicited(connection)).scope;
    }
    if (method.endsWith('/list_changed')) {
      const own = open.find((story) => story.kind === 'subscription' && story.title === LISTS);
      return (own ?? this.unsolicited(connection)).scope;
    }
    const calls = this.workingCalls(connection);
    const [only] = calls;
    const isOfCall = message.kind === 'request' || method === 'notifications/message';
    return only !== undefined && calls.length === 1 && isOfCall
      ? only.scope
      : this.unsolicited(connection).scope;
  }

  /** Removes the stories of a connection, except those that are kept. Returns the ids of the kept ones. */
  clear(connection: string, isKept: (story: StoryRecord) => boolean): readonly number[] {
    const kept: number[] = [];
    for (const story of this.of(connection)) {
      if (isKept(story)) kept.push(story.id);
      else {
        this.#stories.delete(story.id);
        this.#open.delete(story);
      }
    }
    return kept;
  }

  #drop(): void {
    if (this.#stories.size <= MAX_STORIES) return;
    for (const story of this.#stories.values()) {
      if (this.#stories.size <= MAX_STORIES) return;
      if (story.isOver && !story.isPinned) this.#stories.delete(story.id);
    }
  }

  /** Forgets the oldest outcomes if all of them take too much memory. */
  dropOutcomes(): void {
    let total = 0;
    for (const story of this.#stories.values()) total += story.outcomeText?.length ?? 0;
    const latest = this.#last;
    for (const story of this.#stories.values()) {
      if (total <= MAX_OUTCOMES) return;
      if (story.isPinned || story.id === latest) continue;
      total -= story.outcomeText?.length ?? 0;
      story.dropOutcome();
    }
  }
}

/** Whether a resource is the one that was subscribed to, or lies below it. */
function covers(subscribed: string, uri: string): boolean {
  return uri === subscribed || uri.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`);
}
