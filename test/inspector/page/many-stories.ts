// An inspector that has seen a lot: for trying how the page copes with it.

import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import type { Inspector, InspectorEvent } from '../../../src/inspector/contract/inspector.js';
import type { MessageHead } from '../../../src/inspector/contract/message.js';
import type { Story } from '../../../src/inspector/contract/story.js';
import { emptyCatalog } from '../../../src/inspector/session/connection/catalog.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';

const CONNECTION = 'c1';
const PER_STORY = 5;

export interface ManyStories {
  readonly inspector: Inspector;
  /** Makes another call and its messages. */
  readonly addCall: () => void;
  /** Lets the answers to calls that are sent again wait, until the function that it returns is called. */
  readonly holdAgain: () => () => void;
  /** The commands that the page sent. */
  readonly commands: readonly { readonly command: string; readonly input: JsonObject }[];
}

/** An inspector with `count` calls of five messages each. Nothing is behind it. */
export function manyStories(count: number): ManyStories {
  const stories: Story[] = [];
  const messages: MessageHead[] = [];
  const commands: { command: string; input: JsonObject }[] = [];
  const listeners = new Set<(event: InspectorEvent) => void>();
  let seq = 0;
  let held = Promise.resolve();
  const add = (): { story: Story; heads: readonly MessageHead[] } => {
    const story = storyOf(stories.length + 1);
    const heads = headsOf(story);
    stories.push(story);
    messages.push(...heads);
    return { story, heads };
  };
  for (let at = 0; at < count; at++) add();
  const emit = (event: Omit<Extract<InspectorEvent, { type: 'story' | 'messages' }>, 'seq'>): void => {
    const next = { ...event, seq: ++seq } as InspectorEvent;
    for (const listener of listeners) listener(next);
  };
  return {
    commands,
    holdAgain() {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
    addCall() {
      const { story, heads } = add();
      emit({ type: 'messages', messages: heads } as never);
      emit({ type: 'story', story } as never);
    },
    inspector: {
      snapshot: () => ({
        version: '0.0.0',
        seq,
        connections: [connection],
        stories: [...stories],
        messages: [...messages],
        logs: [],
        told: [],
        found: [],
        tapes: [],
        chats: [],
        mayConnect: false,
        first: { connection: CONNECTION },
      }),
      eventsAfter: () => [],
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      async run(command, input) {
        commands.push({ command, input });
        if (command !== 'again') return {};
        await held;
        return { story: stories.length };
      },
      catalog: () => ({ ...emptyCatalog, version: 1 }),
      message: (wanted) => {
        const head = messages[wanted - 1];
        return head && { seq: wanted, text: head.preview, isCut: false };
      },
      outcome: () => undefined,
      share: () => undefined,
      tape: () => undefined,
      close: async () => {},
    },
  };
}

const connection: ConnectionView = {
  id: CONNECTION,
  address: 'http://localhost:3000/mcp',
  typed: 'http://localhost:3000/mcp',
  name: 'busy',
  status: 'ready',
  steps: [],
  transport: 'http',
  revision: '2026-07-28',
  revisions: ['2026-07-28'],
  connectedAt: 1,
  reconnects: 0,
  server: { name: 'busy', capabilities: { tools: {} } },
  clientCapabilities: {},
  catalogVersion: 1,
  seesJournal: false,
  roots: [],
  subscriptions: [],
  follows: [],
  receiving: [],
  auth: { state: 'none', hops: [] },
  isFixed: true,
  knownTasks: [],
};

function storyOf(id: number): Story {
  const at = 1_790_000_000_000 + id * 500;
  const isWrong = id % 17 === 0;
  return {
    id,
    run: Math.ceil(id / 5),
    connection: CONNECTION,
    kind: 'tool',
    title: ['add', 'roll_dice', 'place_order', 'find_order', 'paint'][id % 5] ?? 'add',
    method: 'tools/call',
    args: { a: id },
    at,
    endedAt: at + (id % 200),
    state: isWrong ? 'tool-error' : 'ok',
    serverMs: id % 200,
    youMs: 0,
    rounds: [{ at, ms: id % 200, outcome: 'ok', request: first(id), response: first(id) + PER_STORY - 1 }],
    questions: [],
    ticks: [1, 2, 3].map((step) => ({ at: at + step, kind: 'progress', text: `${step} of 3` })),
    droppedTicks: 0,
    outcome: { content: [{ type: 'text', text: `result number ${id} of a long list` }] },
    isPinned: false,
    firstMessage: first(id),
    lastMessage: first(id) + PER_STORY - 1,
  };
}

const first = (id: number): number => (id - 1) * PER_STORY + 1;

function headsOf({ id, at, title, serverMs }: Story): readonly MessageHead[] {
  const shared = { connection: CONNECTION, story: id, bytes: 180 };
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: title, needle: `needle${id}-` },
  });
  const reply = JSON.stringify({
    jsonrpc: '2.0',
    id,
    result: { content: [{ type: 'text', text: `result ${id}` }] },
  });
  const progress = (step: number): MessageHead => ({
    ...shared,
    seq: first(id) + step,
    at: at + step,
    from: 'server',
    kind: 'notification',
    method: 'notifications/progress',
    preview: `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":${step},"total":3}}`,
  });
  return [
    {
      ...shared,
      seq: first(id),
      at,
      from: 'client',
      kind: 'request',
      method: 'tools/call',
      name: title,
      rpcId: id,
      preview: body,
    },
    progress(1),
    progress(2),
    progress(3),
    {
      ...shared,
      seq: first(id) + PER_STORY - 1,
      at: at + serverMs,
      from: 'server',
      kind: 'response',
      method: 'tools/call',
      name: title,
      rpcId: id,
      ms: serverMs,
      preview: reply,
      status: 200,
    },
  ];
}
