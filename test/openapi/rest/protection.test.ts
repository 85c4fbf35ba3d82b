import { createServer, tool } from 'fullmcp';
import { createHandler, unsafeAnyHost } from 'fullmcp/http';
import { policy } from 'fullmcp/middleware';
import { rest, toOpenAPI } from 'fullmcp/rest';
import { expect, test } from 'vitest';
import { z } from 'zod';

const callers = { reader: ['read'], writer: ['read', 'write'], admin: ['read', 'write', 'admin'] };
const input = z.object({ owner: z.string().optional() });
const run = (): string => 'done';

/** A server with every kind of rule, and the calls that its middleware has seen. */
function guarded(): { readonly server: ReturnType<typeof createServer>; readonly seen: string[] } {
  const seen: string[] = [];
  const server = createServer({
    name: 'guarded',
    version: '1',
    logger: () => undefined,
    auth: ({ header }) => {
      const name = header('authorization')?.slice('Bearer '.length);
      if (name === undefined) return undefined;
      if (!Object.hasOwn(callers, name)) throw new Error(`${name} is not known`);
      return { subject: name, scopes: callers[name as keyof typeof callers] };
    },
    access: policy({
      rules: [
        {
          tools: 'destroy',
          effect: 'deny',
          input: ({ owner }: { owner?: string }) => owner !== 'me',
        },
      ],
      default: 'allow',
    }),
    use: [
      async (call, next) => {
        if (call.method === 'tools/call')
          seen.push(`${call.auth?.subject ?? 'nobody'} ${String(call.params['name'])} ${call.isLocal}`);
        return next(call);
      },
    ],
    tools: {
      open: tool({ input, run }),
      read: tool({ input, scopes: ['read'], run }),
      write: tool({ input, scopes: ['write'], run }),
      mine: tool({
        input,
        allow: (auth, given) => given === undefined || given.owner === auth?.subject,
        run,
      }),
      hidden: tool({ input, allow: (auth) => auth?.scopes.includes('admin') === true, run }),
      destroy: tool({ input, run }),
    },
  });
  return { server, seen };
}

function headersOf(caller: string): Record<string, string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  return caller === 'nobody' ? headers : { ...headers, authorization: `Bearer ${caller}` };
}

/** The status that a REST API should have for the reply of the MCP endpoint. */
async function overMcp(
  server: Parameters<typeof createHandler>[0],
  caller: string,
  name: string,
  args: object,
): Promise<number> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await createHandler(server)(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        ...headersOf(caller),
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args, _meta },
      }),
    }),
  );
  if (response.status !== 200) return response.status;
  const { result, error } = (await response.json()) as {
    result?: { isError?: boolean; content: { text: string }[] };
    error?: { message: string };
  };
  if (error?.message.startsWith('Unknown tool')) return 404;
  if (result?.isError) return result.content[0]?.text.includes('policy') ? 403 : 422;
  return error === undefined ? 200 : 400;
}

const table = ['nobody', 'reader', 'writer', 'admin', 'stranger'].flatMap((caller) =>
  ['open', 'read', 'write', 'mine', 'hidden', 'destroy', 'missing'].flatMap((name) =>
    [
      {},
      { owner: 'me' },
      { owner: caller },
      { owner: 7 },
      { name: 'hidden', _meta: { scopes: ['admin'] } },
    ].map((args) => [caller, name, args] as const),
  ),
);

test('no caller gets anything over REST that it does not get over MCP', async () => {
  const { server, seen } = guarded();
  const api = rest(server);
  const statuses = new Set<number>();
  for (const [caller, name, args] of table) {
    const expected = await overMcp(server, caller, name, args);
    const throughMcp = seen.splice(0);
    const response = await api(
      new Request(`http://localhost/tools/${name}`, {
        method: 'POST',
        headers: headersOf(caller),
        body: JSON.stringify(args),
      }),
    );
    expect([caller, name, args, response.status, seen.splice(0)]).toEqual([
      caller,
      name,
      args,
      expected,
      throughMcp,
    ]);
    statuses.add(response.status);
  }
  // The table would show nothing if all calls ended alike.
  expect([...statuses].sort()).toEqual([200, 401, 403, 404, 422, 500]);
});

test('the document has only the tools that its caller sees', async () => {
  const { server } = guarded();
  const api = rest(server);
  const pathsOf = async (caller: string): Promise<readonly string[]> => {
    const response = await api(new Request('http://localhost/openapi.json', { headers: headersOf(caller) }));
    return Object.keys(((await response.json()) as { paths: object }).paths);
  };
  expect(await pathsOf('admin')).toContain('/tools/hidden');
  expect(await pathsOf('reader')).not.toContain('/tools/hidden');
  expect(Object.keys((await toOpenAPI(server))['paths'] as object)).toEqual(await pathsOf('nobody'));
  const auth = { subject: 'admin', scopes: ['admin', 'read', 'write'] };
  expect(Object.keys((await toOpenAPI(server, { auth }))['paths'] as object)).toEqual(await pathsOf('admin'));
});

test('the document follows changes of the server, although it is kept', async () => {
  const { server } = guarded();
  const api = rest(server);
  const pathsOf = async (): Promise<readonly string[]> => {
    const response = await api(new Request('http://localhost/openapi.json'));
    return Object.keys(((await response.json()) as { paths: object }).paths);
  };
  const before = await pathsOf();
  expect(await pathsOf()).toEqual(before);
  const added = server.tool('added', {}, run);
  expect(await pathsOf()).toEqual([...before, '/tools/added']);
  server.prompt('ask', {}, () => 'Ask');
  expect(await pathsOf()).toEqual([...before, '/tools/added', '/prompts/ask']);
  added.remove();
  expect(await pathsOf()).toEqual([...before, '/prompts/ask']);
});

test('a refusal has a challenge, and does not tell more than the one of MCP', async () => {
  const { server } = guarded();
  const response = await rest(server)(
    new Request('http://localhost/tools/write', { method: 'POST', headers: headersOf('reader') }),
  );
  expect(response.status).toBe(403);
  expect(response.headers.get('www-authenticate')).toBe(
    'Bearer error="insufficient_scope", error_description="This needs the scope write.", scope="write"',
  );
  expect(await response.json()).toMatchObject({ code: 'forbidden', detail: 'This needs the scope write.' });
  const anonymous = await rest(server)(new Request('http://localhost/tools/write', { method: 'POST' }));
  expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([
    401,
    'Bearer scope="write"',
  ]);
});

test.each([
  ['a foreign host', { host: 'evil.example' }, 'POST', 403],
  ['a foreign origin', { origin: 'https://evil.example' }, 'POST', 403],
  [
    'a preflight of a foreign origin',
    { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    'OPTIONS',
    403,
  ],
  ['an allowed origin', { origin: 'https://app.example' }, 'POST', 200],
  ['the own origin', { origin: 'http://localhost' }, 'POST', 200],
])('%s is handled as by the MCP endpoint', async (_, headers, method, status) => {
  const { server } = guarded();
  const options = { allowedOrigins: ['https://app.example'] };
  const request = (path: string): Request =>
    new Request(`http://localhost/${path}`, { method, headers: headers as Record<string, string> });
  const response = await rest(server, options)(request('tools/open'));
  expect(response.status).toBe(status);
  if (status === 403) expect((await createHandler(server, options)(request('mcp'))).status).toBe(403);
  else
    expect(response.headers.get('access-control-allow-origin')).toBe(
      (headers as { readonly origin?: string }).origin,
    );
});

test('a host can be allowed', async () => {
  const { server } = guarded();
  const api = rest(server, { allowedHosts: unsafeAnyHost });
  expect((await api(new Request('http://any.example/tools/open', { method: 'POST' }))).status).toBe(200);
});

test.each([
  ['no address, which a web request does not have,', undefined, undefined],
  ['the address that the one proxy in front names', 1, '198.51.100.7'],
] as const)('a call has %s with `trustProxy: %s`', async (_, trustProxy, expected) => {
  const addresses: unknown[] = [];
  const server = createServer({
    name: 'asked',
    version: '1',
    use: [
      (call, next) => {
        if (call.method === 'tools/call') addresses.push(call.http?.remoteAddress);
        return next(call);
      },
    ],
    tools: { open: tool({ run }) },
  });
  const headers = { 'x-forwarded-for': '1.1.1.1, 198.51.100.7' };
  const request = new Request('http://localhost/tools/open', { method: 'POST', headers });
  expect((await rest(server, { trustProxy })(request)).status).toBe(200);
  expect(addresses).toEqual([expected]);
});
