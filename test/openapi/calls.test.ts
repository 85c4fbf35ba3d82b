import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { clientOf, documentOf, textOf } from './support/served.js';
import { startUpstream } from './support/upstream.js';

const ok = { 200: { description: '', content: { 'application/json': { schema: { type: 'object' } } } } };
const any = { 200: { description: '' } };

test.each([
  ['a/b', '/users/a%2Fb/x'],
  ['?admin=1', '/users/%3Fadmin%3D1/x'],
  ['#x', '/users/%23x/x'],
  ['..%2f', '/users/..%252f/x'],
  ['a\\..\\b', '/users/a%5C..%5Cb/x'],
  ['\r\nHost: x', '/users/%0D%0AHost%3A%20x/x'],
])('the path argument %j does not change the route', async (id, url) => {
  await using upstream = await startUpstream();
  await using client = await clientOf(
    documentOf({ '/users/{id}/x': { get: { operationId: 'op', responses: any } } }),
    { baseUrl: upstream.baseUrl },
  );
  await client.callTool('op', { id });
  expect(upstream.received.map((request) => request.url)).toEqual([url]);
});

test('allowReserved does not let the arguments of a path change the route, nor those of a cookie add a cookie', async () => {
  await using upstream = await startUpstream();
  const string = { type: 'string' };
  const parameters = [
    { in: 'path', name: 'id', required: true, allowReserved: true, schema: string },
    { in: 'cookie', name: 'theme', allowReserved: true, schema: string },
    { in: 'query', name: 'next', allowReserved: true, schema: string },
  ];
  await using client = await clientOf(
    documentOf({ '/users/{id}': { get: { operationId: 'op', parameters, responses: any } } }),
    { baseUrl: upstream.baseUrl },
  );
  await client.callTool('op', { id: '1/keys/2', theme: 'dark; admin=1', next: '/a/b' });
  expect(upstream.received[0]?.url).toBe('/users/1%2Fkeys%2F2?next=/a/b');
  expect(upstream.received[0]?.headers['cookie']).toBe('theme=dark%3B%20admin%3D1');
});

test.each(['', '.', '..', '%2e%2E', '.%2e'].map((id) => [id]))(
  'the path argument %j is refused',
  async (id) => {
    await using upstream = await startUpstream();
    await using client = await clientOf(
      documentOf({ '/users/{id}': { delete: { operationId: 'op', responses: any } } }),
      { baseUrl: upstream.baseUrl },
    );
    const result = await client.callTool('op', { id });
    // A percent sign is encoded once more, so that it cannot be a dot.
    if (id.includes('%')) expect(upstream.received[0]?.url).toBe(`/users/${id.replaceAll('%', '%25')}`);
    else {
      expect(result.isError).toBe(true);
      expect(upstream.received).toEqual([]);
    }
  },
);

test('a line break in a header or in a filename does not add a header', async () => {
  await using upstream = await startUpstream();
  const document = documentOf({
    '/a': {
      get: {
        operationId: 'header',
        parameters: [{ in: 'header', name: 'X-A', schema: { type: 'string' } }],
        responses: any,
      },
    },
    '/b': {
      post: {
        operationId: 'file',
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': {
              schema: { type: 'object', properties: { f: { type: 'string', format: 'binary' } } },
            },
          },
        },
        responses: any,
      },
    },
  });
  await using client = await clientOf(document, { baseUrl: upstream.baseUrl });
  expect(await textOf(client, 'header', { 'X-A': 'a\r\nX-B: 1' })).toMatch(/cannot be sent in the header/);
  expect(
    await textOf(client, 'file', {
      f: { data: 'AAAA', filename: 'a"\r\nX-B: 1', contentType: 'image/png\r\nX-B: 1' },
    }),
  ).toMatch(/not a media type/);
  await client.callTool('file', { f: { data: 'AAAA', filename: 'a"\r\nX-B: 1' } });
  expect(upstream.received[0]?.body).toContain('filename="a%22%0D%0AX-B: 1"\r\n');
  expect(await textOf(client, 'file', { f: { data: '!' } })).toMatch(/not base64/);
  expect(upstream.received).toHaveLength(1);
});

test('of several media types, a body has the first of `contentTypes` that the operation accepts, or else JSON', async () => {
  await using upstream = await startUpstream();
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  const document = documentOf({
    '/a': {
      post: {
        operationId: 'op',
        requestBody: {
          content: { 'application/json': { schema }, 'application/x-www-form-urlencoded': { schema } },
        },
        responses: any,
      },
    },
  });
  const baseUrl = upstream.baseUrl;
  const contentTypes = ['text/csv', 'Application/X-WWW-Form-Urlencoded'];
  for (const options of [{ baseUrl }, { baseUrl, contentTypes }]) {
    await using client = await clientOf(document, options);
    await client.callTool('op', { name: 'ada' });
  }
  expect(upstream.received.map(({ body }) => body)).toEqual(['{"name":"ada"}', 'name=ada']);
});

test('a value with the character that separates the values of its style is refused', async () => {
  await using upstream = await startUpstream();
  const parameter = (style: string): object => ({
    ...{ in: 'query', name: style, style, explode: false },
    schema: { type: 'array', items: { type: 'string' } },
  });
  const parameters = [parameter('pipeDelimited'), parameter('spaceDelimited')];
  const document = documentOf({ '/a': { get: { operationId: 'op', parameters, responses: any } } });
  await using client = await clientOf(document, { baseUrl: upstream.baseUrl });
  expect(await textOf(client, 'op', { pipeDelimited: ['a|b'] })).toMatch(/cannot contain "\|"/);
  expect(await textOf(client, 'op', { spaceDelimited: ['a b'] })).toMatch(/cannot contain " "/);
  expect(upstream.received).toEqual([]);
});

const secured = documentOf(
  {
    '/both': {
      get: {
        operationId: 'both',
        security: [{ user: [], app: [] }, { bearer: [] }],
        parameters: [{ in: 'header', name: 'X-App', schema: { type: 'string' } }],
        responses: any,
      },
    },
    '/open': { get: { operationId: 'open', security: [{}], responses: any } },
    '/perhaps': { get: { operationId: 'perhaps', security: [{}, { bearer: [] }], responses: any } },
    '/none': { get: { operationId: 'none', security: [], responses: any } },
  },
  {
    components: {
      securitySchemes: {
        user: { type: 'http', scheme: 'basic' },
        app: { type: 'apiKey', in: 'header', name: 'X-App' },
        bearer: { type: 'openIdConnect', openIdConnectUrl: 'https://example.com' },
      },
    },
  },
);

test('credentials are those of the first alternative that is complete, and only where an operation needs them', async () => {
  await using upstream = await startUpstream();
  await using client = await clientOf(secured, {
    baseUrl: upstream.baseUrl,
    credentials: { app: 'key', bearer: (_ctx, { path }) => (path === '/perhaps' ? undefined : 'token') },
  });
  const [tool] = (await client.tools().all()).filter(({ name }) => name === 'both');
  expect(tool?.inputSchema['properties']).toEqual({});
  for (const name of ['both', 'open', 'perhaps', 'none']) await client.callTool(name);
  expect(upstream.received.map(({ url, headers }) => [url, headers.authorization, headers['x-app']])).toEqual(
    [
      ['/both', 'Bearer token', undefined],
      ['/open', undefined, undefined],
      ['/perhaps', undefined, undefined],
      ['/none', undefined, undefined],
    ],
  );
});

test('an operation without credentials for the caller is refused, and nothing of the caller is forwarded unless configured', async () => {
  await using upstream = await startUpstream();
  await using client = await clientOf(secured, { baseUrl: upstream.baseUrl });
  expect(await textOf(client, 'both')).toMatch(/needs credentials \(user and app, or bearer\)/);
  expect(upstream.received).toEqual([]);
  await client.callTool('none');
  expect(Object.keys(upstream.received[0]?.headers ?? {}).sort()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ]);
});

test('headers and credentials can be functions of the call', async () => {
  await using upstream = await startUpstream();
  await using client = await clientOf(secured, {
    baseUrl: upstream.baseUrl,
    headers: (ctx) => ({ 'X-Tenant': String(ctx.client.info?.name), 'X-Nothing': undefined }),
    credentials: { bearer: async (ctx) => `for ${ctx.auth?.subject ?? 'nobody'}` },
  });
  await client.callTool('both');
  expect(upstream.received[0]?.headers).toMatchObject({
    'x-tenant': expect.any(String),
    authorization: 'Bearer for nobody',
  });
  expect(upstream.received[0]?.headers).not.toHaveProperty('x-nothing');
});

test('a redirect to another origin carries no credentials, and one of a POST is not followed', async () => {
  await using other = await startUpstream();
  await using upstream = await startUpstream((response, request) => {
    response
      .writeHead(307, { location: request.url?.startsWith('/same') ? '/both' : `${other.baseUrl}/elsewhere` })
      .end();
  });
  const document = documentOf(
    {
      '/away': {
        get: { operationId: 'away', security: [{ bearer: [] }], responses: any },
        post: { operationId: 'send', responses: any },
      },
    },
    { components: secured['components'] },
  );
  await using client = await clientOf(document, {
    baseUrl: upstream.baseUrl,
    credentials: { bearer: 'secret' },
  });
  // The other origin is private, and only the origin of baseUrl may be.
  expect(await textOf(client, 'away')).toMatch(/redirects|cannot be reached/);
  expect(await textOf(client, 'send')).toMatch(/redirects/);
  expect(other.received).toEqual([]);
});

test('cookies and keys are not sent to another origin that may be requested', async () => {
  const { createSafeFetch } = await import('../../src/oauth/fetch/create-safe-fetch.js');
  const sent: [string, string | null, string | null][] = [];
  const fetch = createSafeFetch({
    userAgent: 'test',
    send: async ({ url, headers }) => {
      sent.push([url.host, headers.get('cookie'), headers.get('x-key')]);
      const reply =
        url.host === 'a.example.com'
          ? { status: 302, headers: new Headers({ location: 'https://b.example.com/' }) }
          : { status: 200, headers: new Headers() };
      return { ...reply, chunks: (async function* () {})(), close: () => undefined };
    },
  });
  await fetch('https://a.example.com/', { cookie: 'session=1', headers: { 'x-key': 'k' } });
  expect(sent).toEqual([
    ['a.example.com', 'session=1', 'k'],
    ['b.example.com', null, null],
  ]);
});

test('failures are messages that the model can use, without secrets', async () => {
  const replies: Record<string, [number, string, string, object?]> = {
    problem: [
      422,
      'application/problem+json',
      JSON.stringify({ title: 'Invalid.', detail: 'Name is empty.', errors: [{ field: 'name' }] }),
    ],
    nested: [400, 'application/json', JSON.stringify({ error: { message: 'No such plan', code: 7 } })],
    echo: [401, 'text/plain', 'bad token secret-token-1'],
    html: [500, 'text/html', '<html>stack trace</html>'],
    busy: [429, 'text/plain', '', { 'retry-after': '30' }],
    long: [500, 'text/plain', 'x'.repeat(100_000)],
    broken: [200, 'application/json', '{"a":'],
  };
  await using upstream = await startUpstream((response, request) => {
    const [status, type, body, headers] = replies[request.url?.slice(1) ?? ''] as [
      number,
      string,
      string,
      object?,
    ];
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
  });
  const document = documentOf(
    Object.fromEntries(
      Object.keys(replies).map((name) => [
        `/${name}`,
        { get: { operationId: name, responses: ok, security: [{ bearer: [] }] } },
      ]),
    ),
    { components: secured['components'] },
  );
  await using client = await clientOf(document, {
    baseUrl: upstream.baseUrl,
    credentials: { bearer: 'secret-token-1' },
  });
  expect(await textOf(client, 'problem')).toBe(
    'GET /problem failed with status 422. Invalid. Name is empty. errors: [{"field":"name"}]',
  );
  expect(await textOf(client, 'nested')).toBe('GET /nested failed with status 400. No such plan');
  const echo = await textOf(client, 'echo');
  expect(echo).toContain('bad token …');
  expect(echo).not.toContain('secret');
  expect(await textOf(client, 'html')).toBe('GET /html failed with status 500.');
  expect(await textOf(client, 'busy')).toContain('Retry after: 30.');
  expect((await textOf(client, 'long')).length).toBeLessThan(1200);
  expect(await textOf(client, 'broken')).toMatch(
    /succeeded with status 200, but its reply is not valid JSON/,
  );
});

test('a reply that is too large or too slow ends the request, and so does the end of the call', async () => {
  let closed = 0;
  const open: ServerResponse[] = [];
  const arrivals: (() => void)[] = [];
  const server = createServer((request, response) => {
    response.on('close', () => closed++);
    if (request.url === '/large')
      response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(5000));
    else open.push(response);
    arrivals.shift()?.();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const document = documentOf({
    '/large': { get: { operationId: 'large', responses: any } },
    '/slow': { get: { operationId: 'slow', responses: any } },
  });
  await using client = await clientOf(document, { baseUrl, maxBytes: 1000, timeoutMs: 300 });
  expect(await textOf(client, 'large')).toMatch(/more than 1000 bytes/);
  expect(await textOf(client, 'slow')).toMatch(/took more than 0.3 s/);
  await using patient = await clientOf(document, { baseUrl });
  const arrived = new Promise<void>((resolve) => arrivals.push(resolve));
  const controller = new AbortController();
  const call = patient.callTool('slow', {}, { signal: controller.signal });
  await arrived;
  const gone = new Promise((resolve) => open.at(-1)?.on('close', resolve));
  controller.abort();
  await expect(call).rejects.toThrow();
  await gone;
  expect(closed).toBe(3);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
