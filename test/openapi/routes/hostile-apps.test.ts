import { Readable } from 'node:stream';
import express from 'express';
import fastify from 'fastify';
import { createServer } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { describeRoute, fromRoutes, type RoutesOptions, recordRoutes } from 'fullmcp/openapi';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/model/client.js';

const quiet: RoutesOptions = { onWarning: () => undefined };

async function clientOf(app: object, options: RoutesOptions = {}): Promise<Client> {
  const api = await fromRoutes(app, { ...quiet, ...options });
  return connect(
    createServer({ ...api, name: 'app', logger: () => undefined }),
  ) as unknown as Promise<Client>;
}

/** A body that never ends, and a promise that resolves when it is given up. */
function endless(): { readonly body: Readable; readonly givenUp: Promise<void> } {
  const body = new Readable({
    read() {
      this.push('x'.repeat(1024));
    },
  });
  return { body, givenUp: new Promise((resolve) => body.once('close', resolve)) };
}

/** A promise, and the function that resolves it. */
function signalled(): readonly [Promise<void>, () => void] {
  let fire = (): void => undefined;
  const wait = new Promise<void>((resolve) => (fire = resolve));
  return [wait, () => fire()];
}

interface HostileApp {
  readonly app: object;
  readonly options?: RoutesOptions;
  /** Resolves when the route `/hang` is called. */
  readonly reached: Promise<void>;
  /** Resolves when the app knows that nobody waits for the route `/hang`. */
  readonly left: Promise<void>;
  readonly givenUp: Promise<void>;
}

const apps: Readonly<Record<string, () => HostileApp>> = {
  Hono() {
    const [givenUp, giveUp] = signalled();
    const [left, leave] = signalled();
    const [reached, reach] = signalled();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1024)),
      cancel: () => giveUp(),
    });
    const app = new Hono();
    app.get('/endless', (c) => c.body(body));
    app.get('/hang', (c) => {
      reach();
      c.req.raw.signal.addEventListener('abort', leave);
      return new Promise<Response>(() => undefined);
    });
    app.get('/throw', () => {
      throw new Error('the password is swordfish');
    });
    app.get('/reject', () => Promise.reject('the password is swordfish'));
    return { app, reached, left, givenUp };
  },
  Express() {
    const { body, givenUp } = endless();
    const [left, leave] = signalled();
    const [reached, reach] = signalled();
    const app = express();
    app.get('/endless', (_, res) => {
      body.pipe(res);
      res.once('close', () => body.destroy());
    });
    app.get('/hang', (_, res) => {
      reach();
      res.once('close', leave);
    });
    app.get('/throw', () => {
      throw new Error('the password is swordfish');
    });
    app.get('/reject', (_, res) => void res.destroy(new Error('the password is swordfish')));
    return { app, reached, left, givenUp };
  },
  Fastify() {
    const { body, givenUp } = endless();
    const [left, leave] = signalled();
    const [reached, reach] = signalled();
    const app = fastify();
    const routes = recordRoutes(app);
    app.get('/endless', (_, reply) => reply.send(body));
    app.get('/hang', (request) => {
      reach();
      request.raw.once('close', leave);
      return new Promise(() => undefined);
    });
    app.get(
      '/throw',
      { errorHandler: (_error, _request, reply) => reply.code(500).send('failed') },
      async () => {
        throw new Error('the password is swordfish');
      },
    );
    app.get('/reject', (_, reply) => void reply.hijack().raw.destroy());
    return { app, reached, left, givenUp, options: { routes } };
  },
};
const cases = Object.entries(apps);

test.each(cases)('%s: a reply that never ends is given up at its limit', async (_, make) => {
  const { app, options, givenUp } = make();
  await using client = await clientOf(app, { ...options, maxBytes: 50_000 });
  const { isError, text } = await client.callTool('get_endless');
  expect({ isError, text }).toMatchObject({
    isError: true,
    text: expect.stringContaining('more than 50000 bytes'),
  });
  await givenUp;
});

test.each(cases)('%s: a handler that never replies ends with its time limit', async (_, make) => {
  const { app, options, left } = make();
  await using client = await clientOf(app, { ...options, timeoutMs: 50 });
  expect((await client.callTool('get_hang')).text).toContain('took more than 0.05 s');
  await left;
});

test.each(cases)('%s: the app learns that a call was cancelled', async (_, make) => {
  const { app, options, reached, left } = make();
  await using client = await clientOf(app, options);
  const abort = new AbortController();
  const call = client.callTool('get_hang', {}, { signal: abort.signal });
  void reached.then(() => abort.abort());
  await expect(call).rejects.toMatchObject({ code: 'cancelled' });
  await left;
});

test.each(cases)('%s: a handler that fails does not show its error', async (_, make) => {
  const { app, options } = make();
  await using client = await clientOf(app, options);
  for (const tool of ['get_throw', 'get_reject']) {
    const { isError, text } = await client.callTool(tool);
    expect(isError).toBe(true);
    expect(text).toMatch(/failed/);
    expect(text).not.toContain('swordfish');
  }
});

test('calls at the same time get their own replies', async () => {
  const app = express();
  app.get('/echo/:id', (req, res) => void setImmediate(() => res.json({ id: req.params.id })));
  await using client = await clientOf(app);
  const ids = Array.from({ length: 60 }, (_, at) => `n${at}`);
  const results = await Promise.all(ids.map((id) => client.callTool('get_echo_id', { id })));
  expect(results.map(({ data }) => (data as { id: string }).id)).toEqual(ids);
});

test('large bodies arrive whole in both directions, and a head that is too large is a failed call', async () => {
  const app = express();
  app.use(express.json({ limit: '10mb' }));
  const body = { type: 'object', properties: { text: { type: 'string' } } };
  app.post('/echo', describeRoute({ operationId: 'echo', body }), (req, res) => {
    res.set('connection', 'close').json({ text: req.body.text, size: req.body.text.length });
    // A server often ends its connection before the client has read everything.
    res.once('finish', () => req.socket.destroy());
  });
  app.get('/size/:id', (req, res) => void res.json({ size: req.params.id.length }));
  await using client = await clientOf(app);
  const text = 'aé€😀'.repeat(300_000);
  const { data } = await client.callTool('echo', { text });
  expect((data as { size: number }).size).toBe(text.length);
  expect((data as { text: string }).text === text).toBe(true);
  expect(await client.callTool('get_size_id', { id: 'x'.repeat(30_000) })).toMatchObject({ isError: true });
  expect((await client.callTool('get_size_id', { id: 'x' })).data).toEqual({ size: 1 });
});

test.each(['', '.', '..'])('the argument %j cannot lead to another route', async (id) => {
  const reached: string[] = [];
  const app = express();
  app.get('/users/:id/files', (req, res) => void res.json(reached.push(req.url)));
  app.get('/admin', (req, res) => void res.json(reached.push(req.url)));
  app.use((req, res) => void res.json(reached.push(req.url)));
  await using client = await clientOf(app, { rules: [{ path: '/admin', as: 'nothing' }] });
  expect(await client.callTool('get_users_id_files', { id })).toMatchObject({ isError: true });
  expect(reached).toEqual([]);
});

test('arguments cannot add headers, and nothing of the caller is forwarded', async () => {
  const app = new Hono();
  const seen: Record<string, string>[] = [];
  app.get(
    '/x',
    describeRoute({ headers: { type: 'object', properties: { 'X-A': { type: 'string' } } } }),
    (c) => {
      seen.push(c.req.header());
      return c.json({});
    },
  );
  await using client = await clientOf(app);
  expect(await client.callTool('get_x', { 'X-A': 'a\r\nX-Admin: 1' })).toMatchObject({ isError: true });
  expect(await client.callTool('get_x', { 'X-A': 'a' })).toMatchObject({ isError: false });
  expect(seen).toEqual([{ 'x-a': 'a', accept: 'application/json, */*;q=0.5' }]);
});

test('names of prototypes are ordinary names', async () => {
  const body = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"object"},"constructor":{"type":"string"}}}',
  );
  const app = new Hono();
  app.post('/x/:toString', describeRoute({ body }), async (c) =>
    c.body(await c.req.text(), 200, { 'content-type': 'application/json' }),
  );
  await using client = await clientOf(app);
  const [tool] = await client.tools().all();
  expect(Object.keys(tool?.inputSchema['properties'] as object).sort()).toEqual([
    'constructor',
    'toString',
    'unnamed', // the request has the original name
  ]);
  const args = JSON.parse('{"toString":"a","unnamed":{"admin":true},"constructor":"b"}');
  const result = await client.callTool(tool?.name ?? '', args);
  expect(result.text).toBe('{"constructor":"b","__proto__":{"admin":true}}');
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});
