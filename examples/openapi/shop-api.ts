import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A small API on this computer, with its OpenAPI document.

export const shopDocument = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '2.1.0', description: 'Orders of a shop.' },
  servers: [{ url: 'https://api.shop.example/v2' }],
  security: [{ token: [] }],
  paths: {
    '/orders': {
      get: {
        operationId: 'listOrders',
        summary: 'Lists orders',
        tags: ['orders'],
        parameters: [
          {
            name: 'status',
            in: 'query',
            schema: { type: 'array', items: { enum: ['open', 'paid'] } },
            style: 'form',
            explode: false,
          },
        ],
        responses: {
          200: {
            description: 'The orders.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: { items: { type: 'array', items: { $ref: '#/components/schemas/Order' } } },
                },
              },
            },
          },
        },
      },
    },
    '/orders/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      get: {
        operationId: 'getOrder',
        summary: 'Reads an order',
        tags: ['orders'],
        responses: { 200: { $ref: '#/components/responses/Order' } },
      },
      patch: {
        operationId: 'changeOrder',
        summary: 'Changes an order',
        tags: ['orders'],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } },
        },
        responses: { 200: { $ref: '#/components/responses/Order' } },
      },
    },
    '/internal/reset': { post: { operationId: 'reset', tags: ['internal'], responses: {} } },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    responses: {
      Order: {
        description: 'An order.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } },
      },
    },
    schemas: {
      Order: {
        type: 'object',
        properties: {
          id: { type: 'integer', readOnly: true },
          status: { enum: ['open', 'paid'] },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Order' } },
        },
      },
    },
  },
} as const;

interface Order {
  readonly id: number;
  status: string;
}

/** Starts the API. Each token sees its own orders. */
export async function startShopApi(): Promise<{ readonly url: string; readonly close: () => void }> {
  const shops = new Map<string, Order[]>();
  const api = createServer((request, response) => {
    const token = request.headers.authorization ?? '';
    const orders = shops.get(token) ?? [
      { id: 1, status: 'open' },
      { id: 2, status: 'paid' },
    ];
    shops.set(token, orders);
    const url = new URL(request.url ?? '', 'http://localhost');
    const reply = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (!token.startsWith('Bearer ')) return reply(401, { title: 'Not logged in.' });
    if (url.pathname === '/v2/orders') {
      const wanted = url.searchParams.get('status')?.split(',');
      return reply(200, {
        items: orders.filter(({ status }) => wanted === undefined || wanted.includes(status)),
        total: orders.length,
      });
    }
    const order = orders.find(({ id }) => url.pathname === `/v2/orders/${id}`);
    if (order === undefined) return reply(404, { title: 'Not found.', detail: 'There is no such order.' });
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.on('end', () => reply(200, Object.assign(order, body === '' ? {} : JSON.parse(body))));
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(api.address() as AddressInfo).port}/v2`,
    close: () => void api.close(),
  };
}
