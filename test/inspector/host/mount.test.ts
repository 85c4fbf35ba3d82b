import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { createServer, tool } from 'fullmcp';
import { inspector, type MountedInspector } from 'fullmcp/inspector';
import { serve } from 'fullmcp/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { until } from '../../support/until.js';
import { ask, type Visit, visit } from './support/browser.js';

const server = createServer({
  name: 'shop',
  version: '1',
  logger: () => undefined,
  tools: {
    order: tool({
      run: async (_, ctx) => {
        const id = await ctx.step('create', () => 7);
        const { sure } = await ctx.ask('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
        return `${id} ${sure}`;
      },
    }),
  },
});

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0).reverse()) await close();
});

function mounted(options: Parameters<typeof inspector>[1] = {}): MountedInspector {
  const made = inspector(server, { onAddress: () => undefined, ...options });
  closing.push(() => made.close());
  return made;
}

async function listening(app: RequestListener | Server): Promise<string> {
  const http = typeof app === 'function' ? createHttpServer(app) : app;
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  closing.push(() => {
    http.closeAllConnections();
    return new Promise((done) => http.close(done));
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

interface Seen {
  readonly connections: readonly {
    id: string;
    status: string;
    name: string;
    isFixed: boolean;
    seesJournal: boolean;
    revision?: string;
  }[];
  readonly mayConnect: boolean;
  readonly stories: readonly {
    id: number;
    state: string;
    questions: { id: string }[];
    journal?: { rows: { key: string; cells: string[] }[] };
  }[];
}

async function snapshotOf({ get }: Visit): Promise<Seen> {
  return (await get('api/snapshot')).json<Seen>();
}

async function isReady(user: Visit): Promise<void> {
  await until('it is connected', async () => (await snapshotOf(user)).connections[0]?.status === 'ready');
}

describe('inspector()', () => {
  it('serves the page of this server alone, below its path, and leaves other paths to the program', async () => {
    const inspect = mounted();
    const origin = await listening((req, res) => inspect(req, res, () => void res.end('the app')));
    expect((await ask(`${origin}/`)).body).toBe('the app');
    expect((await ask(`${origin}/inspectors`)).body).toBe('the app');
    const user = await visit(inspect.address(origin));
    expect(user.page.status).toBe(200);
    expect(user.page.headers['set-cookie']?.[0]).toContain('Path=/inspector/;');
    await isReady(user);
    const { connections, mayConnect } = await snapshotOf(user);
    expect(connections).toMatchObject([{ name: 'shop', isFixed: true, seesJournal: true }]);
    expect(mayConnect).toBe(false);
    const refused = await user.post('api/run/connect', { text: 'node evil.js' });
    expect([refused.status, refused.body]).toEqual([422, expect.stringContaining('one server only')]);
  });

  it('shows the journal of a call, with the step that ran', async () => {
    const inspect = mounted();
    const { url } = await inspect.listen();
    const user = await visit(url);
    await isReady(user);
    const [connection] = (await snapshotOf(user)).connections;
    const { story } = (
      await user.post('api/run/call', { connection: connection?.id, tool: 'order', args: {} })
    ).json<{ story: number }>();
    const storyNow = async () => (await snapshotOf(user)).stories.find(({ id }) => id === story);
    await until('it asks', async () => (await storyNow())?.state === 'asks');
    const question = (await storyNow())?.questions[0]?.id;
    await user.post('api/run/answer', {
      story,
      question,
      answer: { action: 'accept', content: { sure: true } },
    });
    await until('it is over', async () => (await storyNow())?.state === 'ok');
    expect((await storyNow())?.journal?.rows.map(({ key, cells }) => [key, ...cells])).toEqual([
      ['create', 'ran', 'known'],
      ['sure', 'asked', 'known'],
      ['return', 'none', 'returned'],
    ]);
  });

  it('is refused in production', () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(() => inspector(server)).toThrow(
      'inspector() is for development: it shows and calls everything that the server has. Do not call it if NODE_ENV is "production".',
    );
  });

  it('is refused with a path that is none, or an option that does not exist', () => {
    for (const path of ['inspector', '', '//x', '/a b', '/?x', 'https://example.com'])
      expect(() => inspector(server, { path })).toThrow('"path" must be a path');
    expect(() => inspector(server, { pth: '/x' } as never)).toThrow(
      'has no option "pth". Did you mean "path"?',
    );
  });

  it('refuses other hosts, proxies, and everybody without the token', async () => {
    const inspect = mounted({ path: '/dev/inspector/' });
    const origin = await listening((req, res) => inspect(req, res));
    const user = await visit(inspect.address(origin));
    expect((await user.get('api/snapshot')).status).toBe(200);
    expect((await user.get('api/snapshot', { host: 'example.com' })).status).toBe(403);
    expect((await user.get('api/snapshot', { 'x-forwarded-for': '203.0.113.7' })).status).toBe(403);
    expect((await ask(`${origin}/dev/inspector/`)).status).toBe(401);
    expect((await ask(`${origin}/elsewhere`)).status).toBe(404);
  });

  it('prints its address once for someone who opens the path without the token', async () => {
    const printed: string[] = [];
    const inspect = mounted({ onAddress: (url) => printed.push(url) });
    const origin = await listening((req, res) => inspect(req, res));
    for (let time = 0; time < 3; time++) expect((await ask(`${origin}/inspector`)).status).toBe(401);
    expect(printed).toEqual([inspect.address(origin)]);
    await ask(`${origin}/inspector/`, { headers: { host: 'evil.example' } });
    expect(printed).toHaveLength(1);
  });

  it('works in Express, below a path of it, and after a parser of bodies', async () => {
    for (const mount of ['/', '/inspector']) {
      const app = express();
      app.use(express.json());
      const inspect = mounted();
      app.use(mount, inspect);
      app.get('/hello', (_req, res) => void res.send('hello'));
      const origin = await listening(app as unknown as RequestListener);
      const address = inspect.address(origin);
      const moved = await ask(address.replace('/inspector/?', '/inspector?'));
      expect([moved.status, moved.headers.location]).toEqual([308, address.slice(origin.length)]);
      const user = await visit(address);
      await isReady(user);
      const [connection] = (await snapshotOf(user)).connections;
      const pinged = await user.post('api/run/ping', { connection: connection?.id });
      expect(pinged.json()).toEqual({ ms: expect.any(Number) });
      expect((await ask(`${origin}/hello`)).body).toBe('hello');
    }
  });

  it.each([
    ['text', express.text({ type: '*/*' })],
    ['bytes', express.raw({ type: '*/*' })],
  ])('works after a parser that reads bodies as %s', async (_, parser) => {
    const inspect = mounted();
    const origin = await listening(express().use(parser).use(inspect) as unknown as RequestListener);
    const user = await visit(inspect.address(origin));
    await isReady(user);
    const [connection] = (await snapshotOf(user)).connections;
    expect((await user.post('api/run/ping', { connection: connection?.id })).status).toBe(200);
  });

  it('with the URL of the server connects as other clients do, in each revision, and still sees the journal', async () => {
    const serving = await serve(server, { port: 0, signals: false, websocket: false });
    closing.push(() => serving.close());
    const inspect = inspector(serving.url);
    closing.push(() => inspect.close());
    const user = await visit((await inspect.listen()).url);
    await isReady(user);
    const [connection] = (await snapshotOf(user)).connections;
    expect(connection).toMatchObject({
      transport: 'http',
      typed: serving.url,
      isFixed: true,
      seesJournal: true,
    });
    await user.post('api/run/reconnect', { connection: connection?.id, revision: '2025-11-25' });
    await until('it speaks the older revision', async () => {
      const [now] = (await snapshotOf(user)).connections;
      return now?.status === 'ready' && now.revision === '2025-11-25';
    });
  });

  it('refuses the URL of another computer', () => {
    for (const url of [
      'https://example.com/mcp',
      'http://127.0.0.1.example.com/',
      'file:///x.js',
      'node x.js',
    ])
      expect(() => inspector(url)).toThrow('must be an address of this computer');
  });

  it('is in Express as the guide shows it', async () => {
    vi.stubEnv('PORT', '0');
    const { listening: http, close } = await import('../../../examples/inspector/express.js');
    closing.push(close);
    if (!http.listening) await new Promise((done) => http.once('listening', done));
    const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    expect((await ask(`${origin}/inspector/`)).status).toBe(401);
  });

  it('works in Fastify, with its raw request and reply', async () => {
    const app = fastify();
    const inspect = mounted();
    app.all('/inspector/*', (req, reply) => {
      reply.hijack();
      const isForgotten = req.headers['x-forget'] !== undefined;
      inspect(isForgotten ? req.raw : Object.assign(req.raw, { body: req.body }), reply.raw);
    });
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    closing.push(() => app.close());
    const user = await visit(inspect.address(origin));
    await isReady(user);
    const [connection] = (await snapshotOf(user)).connections;
    expect((await user.post('api/run/ping', { connection: connection?.id })).status).toBe(200);
    const forgotten = await user.post('api/run/ping', {}, { 'x-forget': '1' });
    expect([forgotten.status, forgotten.body]).toEqual([400, expect.stringContaining('was read before')]);
  });
});
