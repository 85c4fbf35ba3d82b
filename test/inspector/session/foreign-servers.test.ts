import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Target } from '../../../src/connect/targets/target.js';
import { script as everything } from '../../interop/support/everything.js';
import { type ObservedServer, startObserved } from '../../interop/support/observed-server.js';
import { type Rig, rig } from './rig.js';

// Servers that others have written: the reference server with every feature, and servers of both official SDKs.

const sdk = (version: 'v1' | 'v2'): string =>
  fileURLToPath(new URL(`../../interop/fixtures/sdk-${version}-server.mjs`, import.meta.url));

interface Row {
  readonly name: string;
  readonly start: () => Promise<{ readonly target: Target; readonly server?: ObservedServer }>;
  readonly transport: string;
  readonly revision: string;
}

const onStdio =
  (script: string, ...args: readonly string[]): Row['start'] =>
  async () => ({ target: { command: process.execPath, args: [script, ...args] } });
const onHttp =
  (script: string, path: string, ...args: readonly string[]): Row['start'] =>
  async () => {
    const server = await startObserved(script, ...args);
    return { target: `${server.origin}${path}`, server };
  };

async function withRig(start: Row['start'], use: (own: Rig, id: string) => Promise<void>): Promise<void> {
  const { target, server } = await start();
  try {
    await using own = rig();
    await use(own, await own.connect({ target }));
  } finally {
    await server?.stop();
  }
}

const accept = (content: object) => ({ action: 'accept', content });

describe.each<Row>([
  { name: 'everything', start: onStdio(everything, 'stdio'), transport: 'stdio', revision: '2025-11-25' },
  {
    name: 'everything',
    start: onHttp(everything, '/sse', 'sse'),
    transport: 'http+sse',
    revision: '2025-11-25',
  },
  {
    name: 'everything',
    start: onHttp(everything, '/mcp', 'streamableHttp'),
    transport: 'http',
    revision: '2025-11-25',
  },
])('the reference server $name over $transport', ({ start, transport, revision }) => {
  let own: Rig;
  let id: string;
  let server: ObservedServer | undefined;
  beforeAll(async () => {
    const started = await start();
    server = started.server;
    own = rig();
    id = await own.connect({ target: started.target });
  });
  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await server?.stop();
  });

  const call = async (tool: string, args: object = {}) =>
    (await own.run('call', { connection: id, tool, args: { ...args } })).story;

  test('connects and lists', () => {
    expect(own.connection(id)).toMatchObject({ status: 'ready', transport, revision });
    const catalog = own.inspector.catalog(id);
    expect(catalog?.tools.length).toBeGreaterThan(10);
    expect(catalog?.failures).toEqual([]);
    expect(catalog?.findings.length).toBeGreaterThan(0);
  });

  test('calls, shows progress, and checks the output', async () => {
    expect((await own.ended(await call('echo', { message: 'hi' }))).outcome).toMatchObject({
      content: [{ text: 'Echo: hi' }],
    });
    const long = await own.ended(await call('trigger-long-running-operation', { duration: 0.2, steps: 2 }));
    expect(long.ticks.filter(({ kind }) => kind === 'progress').length).toBeGreaterThan(0);
    expect(
      (await own.ended(await call('get-structured-content', { location: 'Chicago' }))).outputCheck,
    ).toEqual({
      result: 'fits',
    });
  });

  test('asks in a form, for a model, and for the roots', async () => {
    const form = await call('trigger-elicitation-request');
    const asked = await own.question(form);
    expect(asked.kind).toBe('form');
    await own.run('answer', { story: form, question: asked.id, answer: accept({ name: 'Ada' }) });
    expect((await own.ended(form)).state).toBe('ok');

    const sampling = await call('trigger-sampling-request', { prompt: 'Say hello', maxTokens: 10 });
    const wanted = await own.question(sampling);
    expect(wanted).toMatchObject({ kind: 'sampling', message: expect.stringContaining('Say hello') });
    await own.run('answer', {
      story: sampling,
      question: wanted.id,
      answer: { role: 'assistant', model: 'by hand', content: { type: 'text', text: 'Hello there' } },
    });
    expect(JSON.stringify((await own.ended(sampling)).outcome)).toContain('Hello there');

    await own.run('roots', { connection: id, roots: [{ uri: 'file:///tmp/here', name: 'here' }] });
    await own.until('the roots to be asked for', () =>
      own.inspector
        .snapshot()
        .messages.some(({ method, kind }) => method === 'roots/list' && kind === 'response'),
    );
  });
});

describe.each<Row>([
  { name: 'v2', start: onStdio(sdk('v2'), 'stdio'), transport: 'stdio', revision: '2026-07-28' },
  { name: 'v2', start: onHttp(sdk('v2'), '/mcp', 'http'), transport: 'http', revision: '2026-07-28' },
  { name: 'v2', start: onHttp(sdk('v2'), '/sessions', 'http'), transport: 'http', revision: '2025-11-25' },
  { name: 'v1', start: onHttp(sdk('v1'), '/sse', 'http'), transport: 'http+sse', revision: '2025-11-25' },
])('a server of the official SDK $name over $transport, $revision', ({ start, transport, revision }) => {
  test('connects, calls, asks and fails as it should', async () => {
    await withRig(start, async (own, id) => {
      expect(own.connection(id)).toMatchObject({ status: 'ready', transport, revision });
      const call = async (tool: string, args: object = {}) =>
        (await own.run('call', { connection: id, tool, args: { ...args } })).story;
      expect((await own.ended(await call('add', { a: 2, b: 40 }))).outcome).toMatchObject({
        content: [{ text: '42' }],
      });
      expect((await own.ended(await call('fail'))).state).toBe('tool-error');
      expect((await own.ended(await call('weather', { city: 'Oslo' }))).outputCheck).toEqual({
        result: 'fits',
      });
      const story = await call('name');
      const question = await own.question(story);
      expect(question).toMatchObject({ kind: 'form', message: 'Your name?' });
      await own.run('answer', { story, question: question.id, answer: accept({ name: 'Ada' }) });
      const ended = await own.ended(story);
      expect(ended.state).toBe('ok');
      expect(ended.rounds).toHaveLength(revision === '2026-07-28' ? 2 : 1);
      // A link is opened by the user alone.
      const visit = await call('consent', { id: 'visit' });
      const link = await own.question(visit);
      expect(link).toMatchObject({ kind: 'url', url: expect.stringMatching(/^https?:/) });
      await own.run('answer', { story: visit, question: link.id, answer: { action: 'decline' } });
      expect((await own.ended(visit)).endedAt).toBeDefined();
    });
  });
});
