import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { inProcess } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import changes, { holidayMode, onSensor } from '../../examples/guide/changes.js';
import { pinned, switched } from '../../examples/guide/compatibility.js';
import context from '../../examples/guide/context.js';
import { add, checked, names } from '../../examples/guide/definitions.js';
import { withoutDeprecated } from '../../examples/guide/deprecations.js';
import * as http from '../../examples/guide/http.js';
import imperative from '../../examples/guide/imperative.js';
import { result } from '../../examples/guide/in-process.js';
import longLists from '../../examples/guide/long-lists.js';
import methods from '../../examples/guide/methods.js';
import middleware, { closedAtNight, lines, reports } from '../../examples/guide/middleware.js';
import ownChanges from '../../examples/guide/own-changes.js';
import prompts from '../../examples/guide/prompts.js';
import resources from '../../examples/guide/resources.js';
import schemaFile from '../../examples/guide/schema-file.js';
import tools from '../../examples/guide/tools.js';
import watching, { exchange } from '../../examples/guide/watching.js';
import { accept } from '../../examples/guide/websocket.js';
import { ofServer, text } from '../../examples/skills/experimental.js';
import { build, run } from '../support/examples/program.js';
import { expectMath, modern } from '../support/examples/wire.js';
import { until } from '../support/until.js';

// Runs the code that the pages in docs/ show.

type Server = Parameters<typeof inProcess>[0];

function call(server: Server, name: string, args: object = {}): Promise<Record<string, unknown>> {
  return inProcess(server)('tools/call', { name, arguments: args });
}

describe('the tools of the guide', () => {
  test.each([
    ['greet', { name: 'Ada', times: '2' }, { content: [{ text: 'Hello Ada! Hello Ada!' }] }],
    ['shout', { name: 'Ada' }, { content: [{ text: 'HELLO ADA!' }] }],
    ['whisper', { name: 'Ada' }, { content: [{ text: 'hello ada' }] }],
    ['forecast', { city: 'Rome' }, { structuredContent: { city: 'Rome', celsius: 21 } }],
    ['pay', { order: 101 }, { isError: true, content: [{ text: /^Order 101 does not exist/ }] }],
    ['wipe', {}, { content: [{ text: 'All gone' }] }],
    ['report', { year: 1999 }, { content: [{ text: 'Nothing much happened in 1999.' }] }],
    ['string', {}, { content: [{ type: 'text', text: 'A string' }] }],
    ['number', {}, { content: [{ text: '42' }] }],
    ['object', {}, { content: [{ text: '{"id":7,"paid":true}' }], structuredContent: { id: 7 } }],
    ['nothing', {}, { content: [] }],
    ['block', {}, { content: [{ type: 'image', data: 'iVBORw==' }] }],
    ['captioned', {}, { content: [{ type: 'image' }, { type: 'text', text: 'The logo' }] }],
    ['full', {}, { _meta: { 'example.com/took': 12 } }],
  ])('include "%s", which returns the documented result', async (name, args, expected) => {
    expect(await call(tools, name, args)).toMatchObject(matching(expected) as object);
  });

  test('return blocks in the order that the handler chose', async () => {
    const { content } = await call(tools, 'blocks');
    expect((content as { type: string }[]).map(({ type }) => type)).toEqual([
      'text',
      'image',
      'audio',
      'resource',
      'resource_link',
    ]);
  });

  test('hide an unexpected error from the model, and log it', async () => {
    const errorLog = vi.spyOn(console, 'error').mockReturnValue();
    const { content } = await call(tools, 'pay', { order: 1 });
    expect(content).toEqual([
      { type: 'text', text: expect.stringMatching(/^Internal error \(ref \w{8}\)$/) },
    ]);
    expect(String(errorLog.mock.calls[0]?.[0])).toContain('ECONNREFUSED');
    errorLog.mockRestore();
  });
});

test('the resources of the guide can be read, and an unknown user is not found', async () => {
  const read = async (uri: string): Promise<unknown> =>
    ((await inProcess(resources)('resources/read', { uri }))['contents'] as unknown[])[0];
  expect(await read('config://app')).toMatchObject({ mimeType: 'application/json', text: '{"debug":true}' });
  expect(await read('logo://small')).toMatchObject({ mimeType: 'image/png', blob: 'iVBORw==' });
  expect(await read('users://ada/profile')).toMatchObject({ text: '{"name":"Ada","born":1815}' });
  await expect(read('users://eve/profile')).rejects.toThrow('Resource not found: users://eve/profile');
});

test('the prompts of the guide return their messages', async () => {
  const get = inProcess(prompts);
  expect(await get('prompts/get', { name: 'review', arguments: { code: 'x' } })).toMatchObject({
    messages: [{ role: 'user', content: { text: 'Review this code:\nx' } }],
  });
  expect(await get('prompts/get', { name: 'interview' })).toMatchObject({
    messages: [{ role: 'user' }, { role: 'assistant' }],
  });
});

test('the context of the guide reports progress, logs, identifies the client, and reads a resource', async () => {
  const server = http.mount().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/nothing-here`;
  const methodNames: string[] = [];
  const crawlResult = await inProcess(context, { logLevel: 'info' })(
    'tools/call',
    { name: 'crawl', arguments: { urls: [page] }, _meta: { progressToken: 1 } },
    { onNotification: (method) => methodNames.push(method) },
  );
  server.close();
  expect(crawlResult).toMatchObject({ structuredContent: { [page]: 0 } });
  expect(methodNames).toEqual(['notifications/progress', 'notifications/message']);
  expect(await call(context, 'summary')).toMatchObject({
    structuredContent: { me: { client: 'unknown', revision: '2026-07-28' }, about: { text: 'The guide' } },
  });
});

test('the generator of the guide tells its story as progress and as its result', async () => {
  await using client = await testClient(context);
  const sentences: unknown[] = [];
  const onProgress = ({ message }: { message?: string }): void => void sentences.push(message);
  const { text } = await client.callTool('tell', { hero: 'Ada' }, { onProgress });
  expect(text).toBe('Ada left home. Ada met a dragon. They became friends.');
  expect(sentences).toHaveLength(3);
});

test('the server of the guide watches a price while a client is subscribed to it', async () => {
  const changes: unknown[] = [];
  {
    await using client = await testClient(watching);
    await client.subscribe('prices://ACME', { onChange: (change) => changes.push(change) });
    await until('the price is watched', () => exchange.watched.includes('ACME'));
    exchange.trade('ACME', 7);
    await until('the client is told', () => changes.length === 1);
  }
  await until('the price is no longer watched', () => exchange.watched.length === 0);
});

test('the long lists of the guide are listed page by page to their ends', async () => {
  await using client = await testClient(longLists);
  const listed = await client.resources().all();
  expect(listed).toHaveLength(5000);
  expect(listed.at(-1)).toMatchObject({ uri: 'notes://2500', name: 'Note 2500' });
});

test('the server of the guide with data of each user tells only its owner of changes', async () => {
  const heard: Record<'ada' | 'bob', string[]> = { ada: [], bob: [] };
  const ada = await testClient(ownChanges, { caller: { subject: 'ada' } });
  const bob = await testClient(ownChanges, { caller: { subject: 'bob' } });
  for (const [name, client] of Object.entries({ ada, bob }))
    await client.subscribe(
      { uris: ['issue://1', 'issue://2'], resources: true },
      {
        onChange: (change) =>
          void heard[name as 'ada' | 'bob'].push(change.kind === 'resource' ? change.uri : change.kind),
      },
    );
  await ada.callTool('rename_issue', { id: '1', title: 'Broken' });
  await ada.callTool('delete_issue', { id: '1' });
  await bob.callTool('rename_issue', { id: '2', title: 'Slow' });
  await until('both are told', () => heard.ada.length >= 2 && heard.bob.length >= 2);
  await Promise.all([ada.settled(), bob.settled()]);
  expect(new Set(heard.ada)).toEqual(new Set(['issue://1', 'resources']));
  expect(new Set(heard.bob)).toEqual(new Set(['issue://2', 'resources']));
});

test('the server of the guide announces changes of its lists and resources', async () => {
  const methodNames: unknown[] = [];
  const leave = new AbortController();
  const listening = inProcess(changes)(
    'subscriptions/listen',
    { notifications: { toolsListChanged: true, resourceSubscriptions: ['room://temperature'] } },
    {
      signal: leave.signal,
      onNotification: (method) => methodNames.push(method.replace('notifications/', '')),
    },
  );
  await call(changes, 'heat', { degrees: 1 });
  onSensor(25);
  const holiday = holidayMode();
  expect(await call(changes, 'party')).toMatchObject({ content: [{ text: 'Party!' }] });
  holiday.end();
  await expect(call(changes, 'party')).rejects.toThrow('Unknown tool: party');
  leave.abort();
  await listening;
  expect(methodNames).toEqual([
    'subscriptions/acknowledged',
    'resources/updated',
    'resources/updated',
    'tools/list_changed',
    'tools/list_changed',
  ]);
});

test('definitions that the guide adds one by one are served', async () => {
  expect(await call(imperative, 'add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] });
  expect(await call(imperative, 'subtract', { a: 3, b: 2 })).toMatchObject({ content: [{ text: '1' }] });
  const uri = 'users://7/profile';
  expect(await inProcess(imperative)('resources/read', { uri })).toMatchObject({
    contents: [{ text: '{"id":"7"}' }],
  });
});

test('the rate of a single tool in the guide does not limit the others', async () => {
  for (let n = 0; n < 3; n++) await call(reports, 'report');
  await expect(call(reports, 'report')).rejects.toThrow(/the limit is 3\/min/);
  for (let n = 0; n < 5; n++)
    expect(await call(reports, 'summary')).toMatchObject({ content: [{ text: 'A summary' }] });
});

test('the middleware of the guide measures and rejects calls', async () => {
  await call(middleware, 'ping');
  expect(lines.at(-1)).toMatch(/^tools\/call took \d+ ms$/);
  const atThree = closedAtNight(() => 3);
  await expect(atThree({ method: 'tools/call' } as never, fail)).rejects.toThrow('Come back after 6');
});

test('the custom method of the guide can be called', async () => {
  expect(await inProcess(methods)('acme/search', { query: 'tea' })).toMatchObject({
    hits: ['Something about tea'],
  });
});

test('the tool of the guide whose schema is in a file checks its arguments', async () => {
  await using client = await testClient(schemaFile);
  expect((await client.callTool('order', { item: 'tea', count: 2 })).text).toBe('2 × tea');
  expect((await client.callTool('order', { count: 2 } as never)).isError).toBe(true);
});

test('the definitions of the guide are listed, found and checked', () => {
  expect(names).toEqual(['add']);
  expect(add?.description).toBe('Add two numbers');
  expect(checked).toMatchObject({ ok: false, field: 'b' });
});

test('the experimental capabilities of the guide reach the other end', () => {
  expect(ofServer).toEqual({ 'com.example/snapshots': { max: 3 } });
  expect(text).toBe('shown');
});

test('the in-process call of the guide returns its result', () =>
  expect(result).toMatchObject({ content: [{ text: '42' }] }));

test('the fetch handler of the guide serves both eras', () => expectMath('http://localhost/mcp', http.fetch));

test('the node:http handler of the guide serves both eras', async () => {
  const server = http.mount().listen(0, '127.0.0.1');
  await once(server, 'listening');
  await expectMath(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  server.closeAllConnections();
  server.close();
});

test('the WebSocket function of the guide serves a socket that the runtime has accepted', async () => {
  const pair = socketPair();
  const closed = accept(pair.server);
  pair.receive(JSON.stringify(modern('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }).body));
  expect(JSON.parse(await pair.sent)).toMatchObject({ result: { content: [{ text: '3' }] } });
  pair.close();
  await closed;
});

describe('the stdio server of the guide', () => {
  beforeAll(build, 120_000);

  test('ends its lifespan when its input ends, and keeps console.log out of the protocol', async () => {
    await using program = run('guide/stdio.js');
    program.send(modern('tools/call', { name: 'ping' }).body);
    expect(JSON.parse((await program.line()) ?? '')).toMatchObject({
      result: { content: [{ text: 'pong' }] },
    });
    expect(await program.end()).toBe(0);
    expect(program.errors()).toBe('opened\nclosed\n');
  });
});

function socketPair(): {
  readonly server: Parameters<typeof accept>[0];
  readonly sent: Promise<string>;
  readonly receive: (data: string) => void;
  readonly close: () => void;
} {
  const listeners = new Map<string, (event: { data: unknown }) => void>();
  let send!: (text: string) => void;
  const sent = new Promise<string>((resolve) => {
    send = resolve;
  });
  return {
    server: {
      send,
      close: () => undefined,
      addEventListener: (type: string, listener: (event: { data: unknown }) => void) =>
        listeners.set(type, listener),
    },
    sent,
    receive: (data) => listeners.get('message')?.({ data }),
    close: () => listeners.get('close')?.({ data: undefined }),
  };
}

function matching(value: unknown): unknown {
  if (value instanceof RegExp) return expect.stringMatching(value);
  if (Array.isArray(value)) return value.map(matching);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, matching(item)]));
}

function fail(): never {
  throw new Error('next was called');
}

test('a model and folders are used without the deprecated parts of the protocol', async () => {
  const server = withoutDeprecated(async (prompt) => `${prompt.length} characters`, {
    '/srv/a': 3,
    '/srv/b': 5,
  });
  expect(await call(server, 'title', { article: 'x' })).toMatchObject({
    content: [{ text: '36 characters' }],
  });
  expect(await call(server, 'count', { folder: '/srv/b' })).toMatchObject({ content: [{ text: '5' }] });
  expect(await call(server, 'count', { folder: '/etc' })).toMatchObject({ isError: true });
});

test('a pinned server keeps the defaults of its day, and a single change can be switched off', async () => {
  expect(pinned.behaviours).toContain('plain-values-as-text');
  expect(await call(pinned, 'answer')).not.toHaveProperty('structuredContent');
  expect(await call(switched, 'answer')).toMatchObject({ structuredContent: 42 });
});
