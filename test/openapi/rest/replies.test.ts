import { rest } from 'fullmcp/rest';
import { expect, test } from 'vitest';
import { picture, restServer } from '../support/rest-server.js';

const base = 'http://localhost/api';

/** Sends a request to a new API. */
async function send(path: string, init: RequestInit & { readonly json?: unknown } = {}): Promise<Response> {
  const { json, ...others } = init;
  const body =
    json === undefined
      ? {}
      : { body: JSON.stringify(json), headers: { 'content-type': 'application/json', ...others.headers } };
  return rest(restServer())(new Request(`${base}${path}`, { method: 'POST', ...others, ...body }));
}

test.each([
  ['structured content is JSON', 'add', { a: 1, b: 2 }, undefined, 'application/json', '{"sum":3}'],
  ['defaults are filled in', 'add', { a: 1 }, undefined, 'application/json', '{"sum":2}'],
  ['text is text', 'greet', { name: 'Ann' }, undefined, 'text/plain;charset=utf-8', 'Hello Ann'],
  [
    'text is JSON if the client wants it',
    'greet',
    { name: 'Ann' },
    'application/json',
    'application/json',
    '{"content":[{"type":"text","text":"Hello Ann"}]}',
  ],
  [
    'text is text if the client prefers it',
    'greet',
    { name: 'Ann' },
    'application/json;q=0.5, text/*',
    'text/plain;charset=utf-8',
    'Hello Ann',
  ],
  [
    'structured content is JSON whatever the client accepts',
    'add',
    { a: 1 },
    'text/plain',
    'application/json',
    '{"sum":2}',
  ],
  ['a value without a schema is JSON', 'count', {}, undefined, 'application/json', '42'],
  [
    'a body that is missing is an object without fields',
    'count',
    undefined,
    undefined,
    'application/json',
    '42',
  ],
  [
    'several blocks are JSON',
    'mixed',
    {},
    undefined,
    'application/json',
    expect.stringContaining('"A picture:"'),
  ],
])('%s', async (_, tool, json, accept, type, body) => {
  const response = await send(`/tools/${tool}`, { json, headers: accept === undefined ? {} : { accept } });
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    200,
    type,
    body,
  ]);
  expect(response.headers.get('cache-control')).toBe('no-store');
});

test('an image is bytes, or JSON if the client wants it', async () => {
  const response = await send('/tools/picture');
  expect(response.headers.get('content-type')).toBe('image/png');
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(picture);
  const json = await send('/tools/picture', { headers: { accept: 'application/json' } });
  expect(await json.json()).toMatchObject({ content: [{ type: 'image', mimeType: 'image/png' }] });
});

test('a result without content is 204', async () => {
  const response = await send('/tools/nothing');
  expect([response.status, await response.text()]).toEqual([204, '']);
});

test('a media type of a tool cannot add a header, and nothing in a reply runs in a browser', async () => {
  const odd = await send('/tools/odd');
  expect([odd.status, odd.headers.get('content-type'), odd.headers.get('x-evil')]).toEqual([
    200,
    'application/octet-stream',
    null,
  ]);
  const page = await send('/resources?uri=docs%3A%2F%2Fpage', { method: 'GET' });
  expect(page.headers.get('content-type')).toBe('text/html;charset=utf-8');
  expect(page.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
});

test.each([
  ['arguments that do not fit', '/tools/add', { json: { a: 'x' } }, 422, 'invalid_arguments', /a: /],
  ['an unknown tool', '/tools/ad', { json: {} }, 404, 'not_found', /Unknown tool: ad\. Did you mean "add"/],
  ['a failed tool', '/tools/fail', { json: {} }, 422, 'tool_failed', /^Order 7 does not exist\.$/],
  ['a crash', '/tools/crash', { json: {} }, 500, 'internal_error', /^Internal error \(ref [0-9a-f]{8}\)$/],
  ['a question', '/tools/ask', { json: {} }, 409, 'needs_mcp_client', /needs an MCP client/],
  ['a task', '/tools/later', { json: {} }, 409, 'needs_mcp_client', /needs an MCP client/],
  [
    'JSON that is none',
    '/tools/add',
    { body: '{', headers: { 'content-type': 'application/json' } },
    400,
    'parse_error',
    /not valid JSON/,
  ],
  ['an array', '/tools/add', { json: [1] }, 400, 'invalid_request', /must be an object/],
  [
    'nesting',
    '/tools/echo',
    { body: `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`, headers: { 'content-type': 'application/json' } },
    400,
    'invalid_request',
    /deeper than 128/,
  ],
  [
    'a form',
    '/tools/add',
    { body: 'a=1', headers: { 'content-type': 'text/plain' } },
    415,
    'invalid_request',
    /application\/json/,
  ],
  [
    'a body without a type',
    '/tools/add',
    { body: new TextEncoder().encode('{"a":1}') },
    415,
    'invalid_request',
    /application\/json/,
  ],
  ['GET of a tool', '/tools/add', { method: 'GET' }, 405, 'method_not_allowed', /GET is not served here/],
  ['another method', '/tools/add', { method: 'DELETE' }, 405, 'method_not_allowed', /DELETE/],
  ['POST of a resource', '/resources?uri=docs://intro', { json: {} }, 405, 'method_not_allowed', /POST/],
  ['an unknown path', '/nowhere', { json: {} }, 404, 'not_found', /Nothing is served/],
  ['a resource without a URI', '/resources', { method: 'GET' }, 400, 'invalid_request', /uri=/],
  ['two URIs', '/resources?uri=a:b&uri=c:d', { method: 'GET' }, 400, 'invalid_request', /one resource/],
  [
    'an unknown resource',
    '/resources?uri=docs://no',
    { method: 'GET' },
    404,
    'resource_not_found',
    /docs:\/\/no/,
  ],
  [
    'a resource that is gone',
    '/resources?uri=files://none',
    { method: 'GET' },
    404,
    'resource_not_found',
    /none/,
  ],
  ['an unknown prompt', '/prompts/no', { json: {} }, 404, 'not_found', /Unknown prompt/],
  ['arguments of a prompt', '/prompts/review', { json: {} }, 422, 'invalid_arguments', /code/],
] as const)('the problem of %s says what to do', async (_, path, init, status, code, detail) => {
  const response = await send(path, init as RequestInit);
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const problem = await response.json();
  expect(problem).toMatchObject({ status, code, type: 'about:blank', title: expect.any(String) });
  expect(problem.detail).toMatch(detail);
  expect(JSON.stringify(problem)).not.toContain('swordfish');
});

test('resources and prompts are served, and HEAD has no body', async () => {
  const intro = await send('/resources?uri=docs%3A%2F%2Fintro', { method: 'GET' });
  expect([intro.headers.get('content-type'), await intro.text()]).toEqual([
    'text/markdown;charset=utf-8',
    '# Intro',
  ]);
  const file = await send('/resources?uri=files%3A%2F%2Fa', { method: 'GET' });
  expect(new Uint8Array(await file.arrayBuffer())).toEqual(picture);
  const head = await send('/resources?uri=docs%3A%2F%2Fintro', { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const review = await send('/prompts/review', { json: { code: 'x()' } });
  expect(await review.json()).toMatchObject({
    messages: [{ role: 'user', content: { type: 'text', text: 'Review x()' } }],
  });
});

test.each([
  '/tools/%2e%2e',
  '/tools/add%2f..',
  '/tools/%',
  '/tools/',
  '/tools',
  '/tools/__proto__',
  '/tools/constructor',
  '/tools/add%00',
  '/tools/add/x',
])('the path %s is not that of a tool', async (path) => {
  const response = await send(path, { json: { a: 1 } });
  expect(response.status).toBe(404);
});

test('a header or a field cannot override the method, and names of prototypes stay data', async () => {
  const override = await send('/tools/add', { method: 'GET', headers: { 'x-http-method-override': 'POST' } });
  expect(override.status).toBe(405);
  const body = '{"__proto__":{"admin":true},"constructor":1,"_method":"DELETE"}';
  const echo = await send('/tools/echo', { body, headers: { 'content-type': 'application/json' } });
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
  // The schema's library leaves it out; the same as over MCP.
  expect(await echo.text()).toBe('{"constructor":1,"_method":"DELETE"}');
});

test('OPTIONS is answered, and an option with a wrong name is refused', async () => {
  expect((await send('/tools/add', { method: 'OPTIONS' })).status).toBe(204);
  expect(() => rest(restServer(), { prefix: '/api' } as object)).toThrow(/path/);
  expect(() => rest(restServer(), { path: 'api' })).toThrow(/begins with "\/"/);
});

test('with a path, only paths below it are served', async () => {
  const api = rest(restServer(), { path: '/api' });
  const statusOf = async (path: string): Promise<number> =>
    (await api(new Request(`http://localhost${path}`, { method: 'POST' }))).status;
  expect(await statusOf('/api/tools/count')).toBe(200);
  for (const path of ['/tools/count', '/other/tools/count', '/api/v1/tools/count', '/apitools/count'])
    expect(await statusOf(path)).toBe(404);
});
