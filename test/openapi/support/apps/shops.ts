import swagger from '@fastify/swagger';
import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import express from 'express';
// @ts-expect-error Version 4 has no types of its own.
import express4 from 'express4';
import fastify, { type FastifyInstance } from 'fastify';
import { describeRoute, type RoutesOptions, recordRoutes } from 'fullmcp/openapi';
import { Hono } from 'hono';
import { z } from 'zod';

// The same small shop in every framework, with the ways in which its routes carry schemas.

/** An app and the options that it needs. */
export interface ShopApp {
  readonly app: object;
  readonly options?: RoutesOptions;
}

const params = z.object({ id: z.string() });
const query = z.object({ verbose: z.boolean().optional(), tags: z.array(z.string()).optional() });
const body = z.object({ item: z.string(), count: z.number().int() });
const order = z.object({ id: z.string(), seen: z.array(z.string()) });
const placed = z.object({ item: z.string(), count: z.number(), actor: z.string() });

const jsonOf = (schema: z.ZodType): object => {
  const { $schema: _, ...json } = z.toJSONSchema(schema);
  return json;
};
const read = { operationId: 'readOrder', summary: 'Reads an order', tags: ['orders'] };
const place = { operationId: 'placeOrder', summary: 'Places an order', tags: ['orders'] };

function seenIn(url: string): string[] {
  return [...new URL(url, 'http://localhost').searchParams].map((pair) => pair.join('='));
}

function hono(): ShopApp {
  const shop = new Hono();
  shop.use('*', async (_, next) => next());
  shop.get('/orders/:id', describeRoute({ ...read, params, query, response: order }), (c) =>
    c.json({ id: c.req.param('id'), seen: seenIn(c.req.url) }),
  );
  shop.post('/orders', describeRoute({ ...place, body, response: placed }), async (c) =>
    c.json({ ...(await c.req.json()), actor: c.req.header('x-actor') ?? 'nobody' }),
  );
  // A mounted app with an error handler of its own has its handlers wrapped.
  shop.onError((_, c) => c.text('failed', 500));
  return { app: new Hono().route('/', shop) };
}

function zodOpenApi(): ShopApp {
  const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } });
  const app = new OpenAPIHono();
  app.openapi(
    createRoute({
      ...{ ...read, tags: [...read.tags], method: 'get', path: '/orders/{id}' },
      request: { params, query: query.extend({ tags: z.array(z.string()).or(z.string()).optional() }) },
      responses: { 200: { description: '', ...json(order) } },
    }) as never,
    ((c: { req: { param: (name: string) => string; url: string }; json: (value: object) => unknown }) =>
      c.json({ id: c.req.param('id'), seen: seenIn(c.req.url) })) as never,
  );
  app.openapi(
    createRoute({
      ...{ ...place, tags: [...place.tags], method: 'post', path: '/orders' },
      request: { body: { required: true, ...json(body) } },
      responses: { 200: { description: '', ...json(placed) } },
    }),
    (async (c: {
      req: { json: () => Promise<object>; header: (name: string) => string | undefined };
      json: (value: object) => unknown;
    }) => c.json({ ...(await c.req.json()), actor: c.req.header('x-actor') ?? 'nobody' })) as never,
  );
  return { app };
}

function expressShop(create: typeof express): ShopApp {
  const app = create();
  app.use(create.json());
  const orders = create.Router();
  orders.get('/:id', describeRoute({ ...read, params, query, response: order }), (req, res) => {
    res.json({ id: req.params.id, seen: seenIn(req.originalUrl) });
  });
  const root = create.Router();
  root.post('/orders', describeRoute({ ...place, body, response: placed }), (req, res) => {
    res.json({ ...req.body, actor: req.headers['x-actor'] ?? 'nobody' });
  });
  app.use(root);
  app.use('/orders', orders);
  return { app, options: { mounts: { '/orders': orders } } };
}

function addFastifyRoutes(app: FastifyInstance): void {
  app.addSchema({ $id: 'placed', ...jsonOf(placed) });
  app.register(async (inner) => {
    inner.get<{ Params: { id: string } }>(
      '/orders/:id',
      {
        schema: {
          ...read,
          ...{ params: jsonOf(params), querystring: jsonOf(query), response: { 200: jsonOf(order) } },
        } as object,
      },
      async (request) => ({ id: request.params.id, seen: seenIn(request.url) }),
    );
  });
  app.post(
    '/orders',
    { schema: { ...place, body: jsonOf(body), response: { '2xx': { $ref: 'placed#' } } } as object },
    async (request) => ({ ...(request.body as object), actor: request.headers['x-actor'] ?? 'nobody' }),
  );
}

async function fastifyRecorded(): Promise<ShopApp> {
  const app = fastify();
  const routes = recordRoutes(app);
  addFastifyRoutes(app);
  return { app, options: { routes } };
}

async function fastifySwagger(): Promise<ShopApp> {
  const app = fastify();
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'App', version: '0.0.0' } } });
  addFastifyRoutes(app);
  return { app };
}

/** The shops, by the way in which they carry schemas. */
export const shops: Readonly<Record<string, () => ShopApp | Promise<ShopApp>>> = {
  'Hono with describeRoute': hono,
  'Hono with @hono/zod-openapi': zodOpenApi,
  'Express 5 with describeRoute': () => expressShop(express),
  'Express 4 with describeRoute': () => expressShop(express4),
  'Fastify with recordRoutes': fastifyRecorded,
  'Fastify with @fastify/swagger': fastifySwagger,
};
