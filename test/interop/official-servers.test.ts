import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import {
  type Client,
  type ConnectOptions,
  connect,
  KnownServers,
  type LogMessage,
  type Target,
} from 'fullmcp/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { soon, until } from '../support/until.js';
import {
  activeHandles,
  type ObservedServer,
  processesWith,
  startObserved,
  untilNothingOpen,
} from './support/observed-server.js';

// Our client against servers made with both official SDKs, over every transport that they serve.

interface Row {
  readonly sdk: 'v1' | 'v2';
  /** An argument of the fixture for a process, a path of it for HTTP. */
  readonly over: string;
  readonly transport: string;
  readonly revision: string;
  /** The features that servers of this kind lack. */
  readonly lacks?: readonly ('progress' | 'questions' | 'changes' | 'log')[];
  readonly pinned?: NonNullable<ConnectOptions['revision']>;
  /** The server is slower to start than the client waits for its answer, so the client has also sent the handshake. */
  readonly slow?: boolean;
}

const session = '2025-11-25';
const newest = '2026-07-28';
// A server that lives for one request has seen no handshake, and has no stream of its own.
const forOneRequest = ['questions', 'changes', 'log'] as const;

const rows: readonly Row[] = [
  { sdk: 'v1', over: 'stdio', transport: 'stdio', revision: session },
  { sdk: 'v1', over: 'stdio', transport: 'stdio', revision: session, slow: true },
  { sdk: 'v1', over: '/sessions', transport: 'http', revision: session },
  // Progress comes on another stream than the response, and may come after it.
  { sdk: 'v1', over: '/json', transport: 'http', revision: session, lacks: ['progress'] },
  { sdk: 'v1', over: '/stateless', transport: 'http', revision: session, lacks: forOneRequest },
  { sdk: 'v1', over: '/sse', transport: 'http+sse', revision: session },
  { sdk: 'v2', over: 'stdio', transport: 'stdio', revision: newest },
  // This package keeps to the era of the last request.
  { sdk: 'v2', over: 'stdio', transport: 'stdio', revision: session, slow: true },
  { sdk: 'v2', over: 'stdio-sessions', transport: 'stdio', revision: session },
  { sdk: 'v2', over: '/mcp', transport: 'http', revision: newest },
  { sdk: 'v2', over: '/streaming', transport: 'http', revision: newest },
  { sdk: 'v2', over: '/sessions', transport: 'http', revision: session },
  { sdk: 'v2', over: '/stateless', transport: 'http', revision: session, lacks: forOneRequest },
  { sdk: 'v2', over: '/mcp', transport: 'http', revision: session, lacks: forOneRequest, pinned: session },
];

const tools = [
  'add',
  'weather',
  'fail',
  'count',
  'chatter',
  'name',
  'slogan',
  'folders',
  'consent',
  'agree',
  'wait',
  'gate',
  'touch',
  'grow',
  'process',
];

const script = (sdk: Row['sdk']): string =>
  fileURLToPath(new URL(`./fixtures/sdk-${sdk}-server.mjs`, import.meta.url));
const servers: Record<string, ObservedServer> = {};
let before: readonly string[];

beforeAll(async () => {
  for (const sdk of ['v1', 'v2'] as const) servers[sdk] = await startObserved(script(sdk), 'http');
  before = activeHandles();
});

afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
});

interface Scene {
  readonly client: Client;
  readonly log: readonly LogMessage[];
  /** Unique to this scenario. */
  readonly key: string;
}

type Scenario = (scene: Scene, row: Row) => Promise<void>;

const scenarios: Readonly<Record<string, Scenario>> = {
  async 'tells the client its name, revision and capabilities'({ client }, { sdk, transport, revision }) {
    expect(client.info()).toMatchObject({ status: 'ready', transport, revision, reconnects: 0 });
    expect(client.server).toMatchObject({
      revision,
      info: { name: `sdk-${sdk}`, title: `SDK version ${sdk.slice(1)}` },
      instructions: 'Call the tools.',
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
    });
    expect(await client.ping()).toBeGreaterThanOrEqual(0);
  },

  async 'lists its tools, resources, templates and prompts'({ client }, { sdk }) {
    const allTools = await client.tools().all();
    expect(allTools.map(({ name }) => name)).toEqual(sdk === 'v2' ? [...tools, 'region'] : tools);
    expect(allTools[1]).toMatchObject({
      inputSchema: { properties: { city: { type: 'string' } } },
      outputSchema: { properties: { degrees: { type: 'number' } } },
      annotations: { readOnlyHint: true },
    });
    expect(await client.resources().all()).toMatchObject([{ uri: 'text://hello', name: 'hello' }]);
    expect(await client.templates().all()).toMatchObject([{ uriTemplate: 'users://{id}/profile' }]);
    expect(await client.prompts().all()).toMatchObject([
      { name: 'review', arguments: [{ name: 'code', required: true }, { name: 'language' }] },
    ]);
  },

  async 'runs tools, and reports their failures as results and other errors as errors'({ client }) {
    expect((await client.callTool('add', { a: 2, b: 40 })).text).toBe('42');
    const weather = await client.callTool('weather', { city: 'Oslo' });
    expect(weather.data).toEqual({ city: 'Oslo', degrees: 21.5 });
    expect(weather.unwrap()).toEqual(weather.data);
    const failed = await client.callTool('fail');
    expect(failed).toMatchObject({ isError: true, text: 'Order 7 does not exist' });
    expect(() => failed.unwrap()).toThrow('Order 7 does not exist');
    const wrong = await client.callTool('add', { a: 'two', b: 40 });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('expected number') });
    await expect(client.request('prompts/get', { name: 'nothing' })).rejects.toMatchObject({
      code: 'invalid_params',
    });
  },

  async 'gets a parameter mirrored in a header if the revision has such headers'({ client }, row) {
    if (row.sdk === 'v1') return;
    const isMirrored = row.transport === 'http' && row.revision === newest;
    const { text } = await client.callTool('region', { region: 'Zürich' });
    expect(text).toBe(`Zürich, header: ${isMirrored}`);
  },

  async 'serves a resource and a template, and rejects an unknown URI'({ client }) {
    expect(await client.readResource('text://hello')).toMatchObject({
      text: 'Hello, world',
      contents: [{ mimeType: 'text/plain' }],
    });
    const { text } = await client.readResource('users://ada/profile');
    expect(JSON.parse(text)).toEqual({ id: 'ada' });
    await expect(client.readResource('text://nothing')).rejects.toMatchObject({
      message: expect.stringContaining('text://nothing'),
    });
  },

  async 'renders a prompt and completes arguments'({ client }) {
    const { messages } = await client.getPrompt('review', { code: '1 + 1', language: 'tcl' });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this tcl:\n1 + 1' } }]);
    const language = await client.complete({ prompt: 'review', argument: 'language', value: 't' });
    expect(language).toMatchObject({ values: ['typescript', 'tcl'], hasMore: false });
    const id = await client.complete({ template: 'users://{id}/profile', argument: 'id', value: 'a' });
    expect(id.values).toEqual(['ada', 'alan']);
  },

  async 'reports progress, where it can'({ client }, { lacks = [] }) {
    const events: unknown[] = [];
    const { text } = await client.callTool(
      'count',
      { to: 5 },
      { onProgress: (progress) => events.push(progress) },
    );
    expect(text).toBe('counted to 5');
    if (lacks.includes('progress')) return;
    expect(events).toEqual(
      [1, 2, 3, 4, 5].map((progress) => ({ progress, total: 5, message: `step ${progress}` })),
    );
  },

  async 'gets answers to its questions, or a failed call where it cannot ask'({ client }, { lacks = [] }) {
    if (lacks.includes('questions')) {
      expect(await client.callTool('name')).toMatchObject({ isError: true });
      return;
    }
    const results = await Promise.all([
      client.callTool('name'),
      client.callTool('slogan'),
      client.callTool('folders'),
    ]);
    expect(results.map(({ text }) => text)).toEqual([
      'accept: {"name":"Ada","polite":true}',
      'small: Ada adds up',
      'file:///work',
    ]);
  },

  async 'sends the user to a URL, where it can ask'({ client, key }, { lacks = [] }) {
    if (lacks.includes('questions')) return;
    expect((await client.callTool('consent', { id: key })).text).toBe('agreed');
  },

  async 'sees the cancellation of a call'({ client, key }) {
    const stop = new AbortController();
    const waiting = client.callTool('wait', { key }, { signal: stop.signal });
    await client.callTool('gate', { key: `${key} came` });
    expect(client.pending()).toMatchObject([{ method: 'tools/call', name: 'wait' }]);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    expect((await client.callTool('gate', { key })).text).toBe(`${key} is open`);
  },

  async 'announces changes until the client unsubscribes, where it can'({ client, key }, { lacks = [] }) {
    const uri = `text://${key.replaceAll(/\W/g, '-')}`;
    const events: string[] = [];
    const subscription = await client.subscribe(
      { uris: [uri], tools: true, resources: true, prompts: true },
      { onChange: (change) => events.push(change.kind === 'resource' ? change.uri : change.kind) },
    );
    expect(subscription.accepted).toEqual({ uris: [uri], tools: true, resources: true, prompts: true });
    if (lacks.includes('changes')) return subscription.close();
    await client.callTool('touch', { uri: 'text://other' });
    await client.callTool('touch', { uri });
    await until('a change has arrived', () => events.length > 0);
    await client.callTool('grow');
    await until('all changes have arrived', () => new Set(events).size >= 4);
    expect([...new Set(events)].sort()).toEqual(['prompts', 'resources', uri, 'tools']);
    await subscription.close();
    const again = await client.subscribe(`${uri}-again`);
    const changes = again[Symbol.asyncIterator]();
    events.length = 0;
    await client.callTool('touch', { uri });
    await client.callTool('touch', { uri: `${uri}-again` });
    const change = { kind: 'resource', uri: `${uri}-again` };
    expect(await soon('The change', changes.next())).toEqual({ done: false, value: change });
    await again.close();
    expect(events).toEqual([]);
  },

  async 'sends log messages from the requested level upwards, where it can'({ client, log }, { lacks = [] }) {
    expect((await client.callTool('chatter', {}, { logLevel: 'warning' })).text).toBe('logged');
    if (lacks.includes('log')) return;
    await until('a message has arrived', () => log.length > 0);
    await client.callTool('chatter', {}, { logLevel: 'debug' });
    await until('all messages have arrived', () => log.length >= 3);
    const warning = { level: 'warning', logger: 'fixture', data: { loud: true } };
    expect(log).toEqual([warning, { level: 'debug', logger: 'fixture', data: 'quiet' }, warning]);
  },
};

describe.each(rows)('a server of $sdk over $over, revision $revision, slow: $slow', (row) => {
  const { sdk, over, pinned, slow } = row;
  const log: LogMessage[] = [];
  const isProcess = !over.startsWith('/');
  let client: Client;

  beforeAll(async () => {
    const target: Target = isProcess
      ? { command: process.execPath, args: [script(sdk), over] }
      : `${servers[sdk]?.origin}${over}`;
    client = await connect(target, {
      ...(pinned !== undefined && { revision: pinned }),
      ...(slow && { probeTimeoutMs: 1 }),
      knownServers: new KnownServers(),
      elicit: {
        form: () => ({ action: 'accept', content: { name: 'Ada' } }),
        async url({ url }) {
          await client.callTool('agree', { id: new URL(url).searchParams.get('id') });
          return { action: 'accept' };
        },
      },
      sample: () => ({ role: 'assistant', model: 'small', content: { type: 'text', text: 'Ada adds up' } }),
      roots: ['file:///work'],
    });
    client.on('log', (message) => log.push(message));
  });

  afterAll(() => client.close());

  test.each(Object.entries(scenarios))('%s', async (name, scenario) => {
    await scenario({ client, log, key: `${name} ${sdk} ${over} ${pinned}` }, row);
  });

  test('causes no problems, and has nothing open after the client closes', async () => {
    const { problems, reconnects, pending } = client.info();
    expect({ problems, reconnects, pending }).toEqual({ problems: [], reconnects: 0, pending: 0 });
    const key = `left ${sdk} ${over} ${pinned}`;
    const waiting = client.callTool('wait', { key });
    await client.callTool('gate', { key: `${key} came` });
    const pid = Number((await client.callTool('process')).text);
    await Promise.all([client.close(), expect(waiting).rejects.toMatchObject({ code: 'connection_closed' })]);
    expect(client.status).toBe('closed');
    await until('nothing more than before keeps this process alive', () =>
      isDeepStrictEqual(activeHandles(), before),
    );
    if (isProcess) {
      expect(() => process.kill(pid, 0)).toThrow('ESRCH');
      expect(await processesWith(`${script(sdk)} ${over}`)).toEqual([]);
      return;
    }
    const server = servers[sdk] as ObservedServer;
    await untilNothingOpen(server);
    expect(await (await fetch(`${server.origin}/open-sessions`)).text()).toBe('0');
  });
});
