import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Client, type ConnectOptions, connect, type LogMessage } from 'fullmcp/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import {
  type ObservedServer,
  processesWith,
  startObserved,
  untilNothingOpen,
} from './support/observed-server.js';

// Our client against a server library that shares no code with the official SDKs.

interface Row {
  /** `stdio`, or a path. */
  readonly over: string;
  readonly transport: string;
  readonly revision: string;
  readonly pinned?: NonNullable<ConnectOptions['revision']>;
}

const rows: readonly Row[] = [
  { over: 'stdio', transport: 'stdio', revision: '2026-07-28' },
  { over: '/mcp', transport: 'http', revision: '2026-07-28' },
  { over: '/mcp', transport: 'http', revision: '2025-06-18', pinned: '2025-06-18' },
  { over: '/sse', transport: 'http+sse', revision: '2025-06-18' },
];

const script = fileURLToPath(new URL('./fixtures/tmcp-server.mjs', import.meta.url));
let server: ObservedServer;

beforeAll(async () => {
  server = await startObserved(script, 'http');
});

afterAll(() => server.stop());

describe.each(rows)('tmcp over $over, revision $revision', ({ over, transport, revision, pinned }) => {
  const log: LogMessage[] = [];
  const isProcess = over === 'stdio';
  let client: Client;

  beforeAll(async () => {
    const target = { command: process.execPath, args: [script, 'stdio'] };
    client = await connect(isProcess ? target : `${server.origin}${over}`, {
      ...(pinned !== undefined && { revision: pinned }),
      elicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
      sample: () => ({ role: 'assistant', model: 'small', content: { type: 'text', text: 'Ada adds up' } }),
      onLog: (message) => log.push(message),
    });
  });

  afterAll(() => client.close());

  test('can be identified, and its tools, resources, prompts and completions can be used', async () => {
    expect(client.info()).toMatchObject({ transport, revision });
    expect(client.server).toMatchObject({ info: { name: 'tmcp' }, instructions: 'Call the tools.' });
    const tools = (await client.tools().all()).map(({ name }) => name);
    expect(tools).toEqual(['weather', 'chatter', 'name', 'slogan', 'wait', 'gate', 'touch']);
    expect((await client.callTool('weather', { city: 'Oslo' })).data).toEqual({
      city: 'Oslo',
      degrees: 21.5,
    });
    expect(await client.callTool('weather')).toMatchObject({ isError: true });
    expect((await client.readResource('text://hello')).text).toBe('Hello, world');
    expect(JSON.parse((await client.readResource('users://ada/profile')).text)).toEqual({ id: 'ada' });
    const { messages } = await client.getPrompt('review', { language: 'tcl' });
    expect(messages[0]?.content).toMatchObject({ text: 'Review tcl' });
    const completed = await client.complete({ prompt: 'review', argument: 'language', value: 't' });
    expect(completed.values).toEqual(['tcl']);
    const template = 'users://{id}/profile';
    expect((await client.complete({ template, argument: 'id', value: 'a' })).values).toEqual(['ada', 'alan']);
  });

  test('reports progress, sends a log message, and asks the user and the model', async () => {
    const reports: unknown[] = [];
    await client.callTool('chatter', {}, { onProgress: (progress) => reports.push(progress) });
    expect(reports).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2, message: 'done' },
    ]);
    await until('the log message has arrived', () => log.length > 0);
    expect(log).toEqual([{ level: 'warning', logger: 'fixture', data: { loud: true } }]);
    expect((await client.callTool('name')).text).toBe('accept: Ada');
    expect((await client.callTool('slogan')).text).toBe('small: Ada adds up');
  });

  test('announces changes of a resource and of the tools', async () => {
    const changes: string[] = [];
    const subscription = await client.subscribe(
      { uris: ['text://hello'], tools: true },
      { onChange: (change) => changes.push(change.kind) },
    );
    expect(subscription.accepted).toEqual({ uris: ['text://hello'], tools: true });
    await client.callTool('touch');
    await until('both changes have arrived', () => changes.length >= 2);
    expect(changes.sort()).toEqual(['resource', 'tools']);
    await subscription.close();
  });

  test('has a call cancelled, and has nothing open after the client closes', async () => {
    const key = `${over} ${revision}`;
    const stop = new AbortController();
    const waiting = client.callTool('wait', { key }, { signal: stop.signal });
    await client.callTool('gate', { key: `${key} came` });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    // On other transports its handlers do not see the cancellation.
    if (transport === 'http') await client.callTool('gate', { key });
    expect((await client.callTool('weather', { city: 'Oslo' })).isError).toBe(false);
    const { problems, reconnects, pending } = client.info();
    expect({ problems, reconnects, pending }).toEqual({ problems: [], reconnects: 0, pending: 0 });
    await client.close();
    if (isProcess) expect(await processesWith(`${script} stdio`)).toEqual([]);
    else await untilNothingOpen(server);
  });
});
