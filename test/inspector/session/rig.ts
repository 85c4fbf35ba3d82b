// The parts that the tests of the inspector's process share: an inspector that opens what it is told, and ways to wait for it.

import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import type { Commands, InspectorEvent } from '../../../src/inspector/contract/inspector.js';
import type { OpenedTarget } from '../../../src/inspector/contract/options.js';
import type { QuestionView, Story } from '../../../src/inspector/contract/story.js';
import {
  createInspector,
  type InspectorOptions,
  type RunningInspector,
} from '../../../src/inspector/create-inspector.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';

export interface Rig extends AsyncDisposable {
  readonly inspector: RunningInspector;
  readonly run: <Name extends keyof Commands>(
    name: Name,
    input: Commands[Name][0],
  ) => Promise<Commands[Name][1]>;
  /** Sends anything as a command. */
  readonly raw: (name: string, input: unknown) => Promise<object>;
  /** Waits until something holds. It is checked after each event, and given up when events cease. */
  readonly until: <T>(what: string, check: () => T | undefined | false) => Promise<T>;
  readonly connection: (id: string) => ConnectionView | undefined;
  readonly story: (id: number) => Story;
  readonly ended: (id: number) => Promise<Story>;
  readonly question: (story: number, isAsked?: (question: QuestionView) => boolean) => Promise<QuestionView>;
  /** Begins to connect. */
  readonly begin: (opened: Partial<OpenedTarget> & Pick<OpenedTarget, 'target'>) => Promise<string>;
  /** Connects and waits until the lists are there. */
  readonly connect: (opened: Partial<OpenedTarget> & Pick<OpenedTarget, 'target'>) => Promise<string>;
  readonly events: readonly InspectorEvent[];
}

/** The time without any event after which a test stops waiting. While events arrive, only the timeout of the test counts. */
const WAIT_MS = 20_000;

export function rig(options: Partial<InspectorOptions> = {}): Rig {
  let next: OpenedTarget | undefined;
  const events: InspectorEvent[] = [];
  const checks = new Set<() => void>();
  const inspector = createInspector({
    version: '0.0.0',
    openTarget: async () => next as OpenedTarget,
    ...options,
  });
  const views = new Map<string, ConnectionView>();
  const latest = new Map<number, Story>();
  inspector.subscribe((event) => {
    events.push(event);
    if (event.type === 'connection') views.set(event.connection.id, event.connection);
    if (event.type === 'story') latest.set(event.story.id, event.story);
    if (event.type === 'disconnected') views.delete(event.id);
    for (const check of [...checks]) check();
  });

  function until<T>(what: string, check: () => T | undefined | false): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        checks.delete(look);
        reject(new Error(`Waited too long for ${what}`));
      }, WAIT_MS);
      function look(): void {
        timer.refresh();
        const value = check();
        if (value === undefined || value === false) return;
        clearTimeout(timer);
        checks.delete(look);
        resolve(value);
      }
      checks.add(look);
      look();
    });
  }

  function connection(id: string): ConnectionView | undefined {
    // Makes events of everything that has happened.
    inspector.eventsAfter(-1);
    return views.get(id);
  }
  const find = (id: number): Story | undefined => latest.get(id);

  async function begin(opened: Partial<OpenedTarget> & Pick<OpenedTarget, 'target'>): Promise<string> {
    next = { options: {}, address: 'test', typed: 'test', ...opened };
    return ((await inspector.run('connect', { text: 'test' })) as { connection: string }).connection;
  }

  return {
    inspector,
    events,
    until,
    connection,
    run: (name, input) => inspector.run(name, input as JsonObject) as never,
    raw: (name, input) => inspector.run(name, input as JsonObject),
    story(id) {
      const story = inspector.snapshot().stories.find((one) => one.id === id);
      if (story === undefined) throw new Error(`There is no story ${id}`);
      return story;
    },
    ended: (id) =>
      until(`the end of story ${id}`, () => {
        const story = find(id);
        return story?.endedAt !== undefined && story;
      }),
    question: (id, isAsked = () => true) =>
      until(`a question of story ${id}`, () =>
        find(id)?.questions.find(
          (one) => one.answeredAt === undefined && one.gone === undefined && isAsked(one),
        ),
      ),
    begin,
    async connect(opened) {
      const id = await begin(opened);
      await until('the connection', () => {
        const view = connection(id);
        return view?.status === 'failed' || (view?.catalogVersion ?? 0) > 0;
      });
      return id;
    },
    [Symbol.asyncDispose]: () => inspector.close(),
  };
}
