import swagger from '@fastify/swagger';
import express from 'express';
import fastify from 'fastify';
import { describeRoute, fromRoutes, recordRoutes } from 'fullmcp/openapi';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { toTemplate } from '../../../src/openapi/routes/route-path.js';

const reply = (_: unknown, res: express.Response): void => void res.json({});

test.each([
  ['express', '/a/:b/c', '/a/{b}/c'],
  ['express', '/flights/:from-:to', '/flights/{from}-{to}'],
  ['express', '/a/:id(\\d+)/b', '/a/{id}/b'],
  ['express', '/a/*rest', undefined],
  ['express', '/a{/:b}', undefined],
  ['express', '/a/:b?', undefined],
  ['express', '/a/:b(', undefined],
  ['express', '/é', undefined],
  ['express', '', '/'],
  ['hono', '/posts/:post-id', '/posts/{post-id}'],
  ['hono', '/posts/:id{[0-9]{2}}/x', '/posts/{id}/x'],
  ['hono', '/posts/:id?', undefined],
  ['hono', '*', undefined],
  ['fastify', '/at/:hour(^\\d{2})h:minute(^\\d{2})m', '/at/{hour}h{minute}m'],
  ['fastify', '/a/::b', undefined],
] as const)('a path of %s, %s, is %s in OpenAPI', (syntax, path, template) => {
  expect(toTemplate(path, syntax)).toBe(template);
});

test('routes without schemas take the parameters of their paths, and a warning names them', async () => {
  const warnings: string[] = [];
  const app = new Hono();
  app.get('/a/:b', (c) => c.json({}));
  app.post('/c', describeRoute({ summary: 'C' }), (c) => c.json({}));
  app.get('/files/*', (c) => c.json({}));
  app.on(['HEAD', 'OPTIONS'], '/d', (c) => c.body(null));
  app.all('/e', (c) => c.json({}));
  const { tools } = await fromRoutes(app, { onWarning: (message) => warnings.push(message) });
  expect(Object.keys(tools)).toEqual(['get_a_b', 'post_c']);
  expect(warnings).toEqual([
    expect.stringContaining('leaves out GET /files/*:'),
    expect.stringContaining('no schema for GET /a/{b}:'),
  ]);
});

test.each([
  ['a string', 'app' as unknown as object, /needs an app of Hono, Express or Fastify/],
  ['null', null as unknown as object, /needs an app/],
  ['an object', {}, /needs an app/],
  ['an app of Hono without routes', new Hono(), /has no routes/],
  ['an app of Express without routes', express(), /has no routes/],
  ['an app of Fastify that nobody recorded', fastify(), /recordRoutes\(app\) before you add the first route/],
])('%s is refused with the reason', async (_, app, reason) => {
  await expect(fromRoutes(app)).rejects.toThrow(reason);
});

test('an app of Fastify with a document of Swagger 2.0 is refused with the option to set', async () => {
  const app = fastify();
  await app.register(swagger);
  app.get('/a', async () => ({}));
  await expect(fromRoutes(app)).rejects.toThrow(/Register it with the option "openapi"/);
});

test('an unknown option is refused', async () => {
  await expect(fromRoutes(new Hono(), { fetch: () => undefined } as object)).rejects.toThrow(/fetch/);
});

test('Express does not tell where routers are mounted, so that mounts must, and is checked', async () => {
  const inner = express.Router();
  inner.get('/', reply).get('/:id', reply).delete('/:id', reply);
  const api = express.Router();
  api.use('/users', inner);
  const app = express();
  app.use('/api', api);
  const sub = express();
  sub.get('/about', reply);
  app.use('/site', sub);
  const onWarning = (): void => undefined;
  await expect(fromRoutes(app, { onWarning })).rejects.toThrow(
    /where a router with 1 handlers is mounted\. Pass/,
  );
  await expect(fromRoutes(app, { onWarning, mounts: { '/api': api } })).rejects.toThrow(
    /mounted below \/api/,
  );
  await expect(
    fromRoutes(app, {
      onWarning,
      mounts: { '/api': api, '/api/users': inner, '/wrong': sub, '/other': inner },
    }),
  ).rejects.toThrow(/"mounts" has "\/other", but/);
  await expect(fromRoutes(app, { onWarning, mounts: { '/v1': api } })).rejects.toThrow(/where a router/);
  const { tools } = await fromRoutes(app, {
    onWarning,
    mounts: { '/api': api, '/api/users': inner, '/site': sub },
  });
  expect(Object.keys(tools).sort()).toEqual([
    'delete_api_users_id',
    'get_api_users',
    'get_api_users_id',
    'get_site_about',
  ]);
});

test('a document that is passed counts, and routes that Fastify hides do not', async () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Mine', version: '3' },
    paths: { '/a': { get: { operationId: 'a' } } },
  };
  const fromDocument = await fromRoutes(express(), { document });
  expect(fromDocument).toMatchObject({ name: 'mine', version: '3', tools: { a: expect.anything() } });
  const app = fastify();
  const routes = recordRoutes(app);
  app.get('/a', { schema: { hide: true } as object }, async () => ({}));
  app.get('/b', { schema: {} }, async () => ({}));
  const recorded = await fromRoutes(app, { routes, info: { title: 'Other', version: '4' } });
  expect(recorded).toMatchObject({ name: 'other', version: '4' });
  expect(Object.keys(recorded.tools)).toEqual(['get_b']);
});

test('shared and recursive schemas of Fastify keep their references', async () => {
  const app = fastify();
  app.addSchema({
    $id: 'https://example.com/node',
    ...{
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    },
  });
  const routes = recordRoutes(app);
  app.post(
    '/tree',
    { schema: { body: { $ref: 'https://example.com/node#' } } },
    async (request) => request.body,
  );
  const { tools } = await fromRoutes(app, { routes });
  const input = tools['post_tree']?.options.input as object;
  expect(JSON.stringify(input)).toContain('"$defs"');
});
