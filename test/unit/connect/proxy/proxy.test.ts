import { createServer, type Middleware, resource, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { type ServeOptions, type Serving, serve } from '../../../../src/node.js';
import { type ProxyOptions, proxy } from '../../../../src/proxy.js';
import { modern } from '../../../support/http/modern.js';
import { until } from '../../../support/until.js';

const quiet = { logger: () => undefined };

async function serving(server: Parameters<typeof serve>[0], options: ServeOptions = {}): Promise<Serving> {
  const served = await serve(server, { port: 0, signals: false, ...options });
  onTestFinished(() => served.close());
  return served;
}

/** A server that asks, and says whether its call was cancelled. */
function askingServer(use: readonly Middleware[] = []) {
  const signals: AbortSignal[] = [];
  const note: Middleware = (call, next) => {
    if (call.method === 'tools/call') signals.push(call.signal);
    return next(call);
  };
  const server = createServer({
    ...{ name: 'behind', version: '1', secret: 'a secret that is long enough for it', ...quiet },
    use: [note, ...use],
    tools: {
      ask: tool({
        run: async (_input, ctx) =>
          (await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) })).action,
      }),
    },
  });
  return { server, signals };
}

const asking = { meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } } };

async function ask(url: string, more: object = {}, headers: Record<string, string> = {}) {
  const { text } = await modern(
    url,
    'tools/call',
    { name: 'ask', arguments: {}, ...more },
    { ...asking, headers },
  );
  return JSON.parse(text);
}

/** A proxy in front of a server of the session era. */
async function inFrontOfOlder(options: ProxyOptions = {}, own: ServeOptions = {}) {
  const { server, signals } = askingServer();
  const behind = await serving(server);
  // Over a WebSocket, a handler waits for its answers, and has a signal.
  const between = proxy(behind.url.replace('http', 'ws'), { revision: '2025-11-25', ...quiet, ...options });
  const { url } = await serving(between, own);
  return { url, signals, behind, between };
}

test('the answers of another caller do not continue a call', async () => {
  const auth = (request: { headers: Record<string, unknown> }) => ({
    subject: String(request.headers['authorization']),
  });
  const { url } = await inFrontOfOlder({}, { auth: auth as never });
  const { result } = await ask(url, {}, { authorization: 'Bearer alice' });
  const answer = {
    requestState: result.requestState,
    inputResponses: Object.fromEntries(
      Object.keys(result.inputRequests).map((key) => [key, { action: 'accept', content: { ok: true } }]),
    ),
  };
  expect((await ask(url, answer, { authorization: 'Bearer mallory' })).error.message).toContain(
    'unknown here',
  );
  expect((await ask(url, answer, { authorization: 'Bearer alice' })).result.content[0].text).toBe('accept');
  expect((await ask(url, answer, { authorization: 'Bearer alice' })).error.message).toContain('unknown here');
});

test('the output and the command line of a program are for the operator, and not for callers', async () => {
  const script = 'console.error("the password is hunter2"); process.exit(3)';
  const told: string[] = [];
  const between = proxy(
    { command: process.execPath, args: ['-e', script, 'secret-argument'] },
    { logger: (_level, message) => told.push(message) },
  );
  const { url } = await serving(between);
  const { text } = await modern(url, 'tools/call', { name: 'ask', arguments: {} }, {});
  expect(JSON.parse(text).error.message).toBe('The connection to the server behind this one was lost.');
  expect(text).not.toMatch(/hunter2|secret-argument|exitCode/);
  expect(told.join('\n')).toContain('the password is hunter2');
  // The program that the proxy runs in sees everything.
  await expect(connect(between)).rejects.toThrow('hunter2');
});

test('a call that nobody answers is cancelled at the server', async () => {
  const { url, signals } = await inFrontOfOlder({ answerMs: 20 });
  const { result } = await ask(url);
  expect(result.resultType).toBe('input_required');
  await until('the call is cancelled', () => signals.at(-1)?.aborted === true);
  expect((await ask(url, { requestState: result.requestState })).error.message).toContain('unknown here');
});

test('a proxy that is closed cancels the calls that wait for answers', async () => {
  const { url, signals, between } = await inFrontOfOlder();
  await ask(url);
  await between.close();
  await until('the call is cancelled', () => signals.at(-1)?.aborted === true);
});

/** A server that tells the headers of its caller. */
function tellingServer() {
  const sessions = new Set<string>();
  const server = createServer({
    ...{ name: 'behind', version: '1', ...quiet },
    use: [
      async (call, next) => {
        sessions.add(call.http?.header('mcp-session-id') ?? '');
        if (call.method !== 'tools/call') return next(call);
        const text = call.http?.header('authorization') ?? 'nobody';
        return { resultType: 'complete', content: [{ type: 'text', text }] };
      },
    ],
    tools: { who: tool({ run: () => 'nobody' }) },
  });
  return { server, sessions };
}

async function whoIs(url: string, authorization: string): Promise<string> {
  await using client = await connect(url, { headers: { authorization } });
  return (await client.callTool('who')).text;
}

test.each(['2026-07-28', '2025-11-25'] as const)(
  'the token of a caller reaches a server of %s only if the proxy is told to pass it',
  async (revision) => {
    const { server, sessions } = tellingServer();
    const behind = await serving(server);
    const asItself = await serving(proxy(behind.url, { revision, auth: 'own', ...quiet }));
    expect(await whoIs(asItself.url, 'Bearer alice')).toBe('Bearer own');
    const asCaller = await serving(proxy(behind.url, { revision, identity: 'pass', auth: 'own', ...quiet }));
    sessions.clear();
    const both = await Promise.all(['Bearer alice', 'Bearer bob'].map((token) => whoIs(asCaller.url, token)));
    expect(both).toEqual(['Bearer alice', 'Bearer bob']);
    if (revision === '2025-11-25') expect(sessions.size).toBeGreaterThan(1);
    const chosen = await serving(
      proxy(behind.url, {
        ...{ revision, auth: 'own', ...quiet },
        identity(call) {
          const from = call.http?.header('authorization');
          if (from === 'Bearer bob') throw new Error('No');
          return { key: String(from), headers: { authorization: 'Bearer exchanged' } };
        },
      }),
    );
    expect(await whoIs(chosen.url, 'Bearer alice')).toBe('Bearer exchanged');
    await expect(whoIs(chosen.url, 'Bearer bob')).rejects.toThrow();
  },
);

test.each(['2026-07-28', '2025-11-25'] as const)(
  'calls and subscriptions continue when a server of %s is back',
  async (revision) => {
    const make = () =>
      createServer({
        ...{ name: 'behind', version: '1', changes: true, ...quiet },
        secret: 'a secret that is long enough for it',
        resources: { 'a://1': resource({ read: () => 'one' }) },
        tools: { hello: tool({ run: () => 'hello' }) },
      });
    const first = await serve(make(), { port: 0, signals: false });
    const { url } = await serving(proxy(first.url, { revision, ...quiet }));
    await using client = await connect(url);
    const changes: string[] = [];
    await using _subscription = await client.subscribe(
      { uris: ['a://1'], tools: true },
      { onChange: ({ kind }) => changes.push(kind) },
    );
    expect((await client.callTool('hello')).text).toBe('hello');
    await first.close();
    await expect(client.callTool('hello')).rejects.toThrow();
    const again = make();
    await serving(again, { port: first.port });
    await until('calls work again', () =>
      client.callTool('hello').then(
        () => true,
        () => false,
      ),
    );
    await until('everything is reported as changed', () => changes.includes('tools'));
    changes.length = 0;
    again.changed.resource('a://1');
    await until('changes are reported', () => changes.includes('resource'));
  },
  30_000,
);

test('a server that cannot be reached fails calls at once, and is not tried for each call', async () => {
  // The pause after the failure would be over if this computer were slow.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const fetches = vi.fn(() => Promise.reject(new TypeError('fetch failed')));
  const between = proxy('http://127.0.0.1:9/mcp', { fetch: fetches as never, ...quiet });
  onTestFinished(() => between.close());
  const { url } = await serving(between);
  const call = () => modern(url, 'tools/list');
  const { text } = await call();
  expect(JSON.parse(text).error.message).toBe('The server behind this one cannot be reached.');
  const tried = fetches.mock.calls.length;
  await Promise.all([call(), call(), call()]);
  expect(fetches.mock.calls.length).toBe(tried);
});

test('unknown fields and metadata pass in both directions', async () => {
  const seen: unknown[] = [];
  const behind = await serving({
    ...quiet,
    start: async () => undefined,
    close: async () => undefined,
    async dispatch(call) {
      if (call.method === 'tools/call') seen.push(call.params);
      return call.method === 'server/discover'
        ? {
            resultType: 'complete',
            supportedVersions: ['2026-07-28'],
            capabilities: { tools: {}, 'x/new': {} },
          }
        : { resultType: 'complete', content: [], 'x/field': [1], _meta: { 'x/meta': 2 }, tools: [] };
    },
  });
  const { url } = await serving(proxy(behind.url, quiet));
  const { text } = await modern(
    url,
    'tools/call',
    { name: 'a', arguments: {}, 'x/param': { deep: true } },
    { meta: { 'x/trace': '1', traceparent: '00-1-1-00' } },
  );
  expect(JSON.parse(text).result).toMatchObject({ 'x/field': [1], _meta: { 'x/meta': 2 } });
  expect(seen).toMatchObject([
    { 'x/param': { deep: true }, _meta: { 'x/trace': '1', traceparent: '00-1-1-00' } },
  ]);
  const discovered = JSON.parse((await modern(url, 'server/discover')).text).result;
  expect(discovered.capabilities).toHaveProperty('x/new');
});

test('more callers than connections are told to retry, and an idle connection makes room', async () => {
  const { url } = await inFrontOfOlder({ maxConnections: 1 });
  const { result } = await ask(url);
  expect((await ask(url)).error.message).toContain('too many connections');
  const [key = ''] = Object.keys(result.inputRequests);
  const answer = { requestState: result.requestState, inputResponses: { [key]: { action: 'decline' } } };
  expect((await ask(url, answer)).result.content[0].text).toBe('decline');
  expect((await ask(url)).result.resultType).toBe('input_required');
});

const byToken: ServeOptions = {
  auth: ((request: { headers: Record<string, unknown> }) => ({
    subject: String(request.headers['authorization']),
  })) as never,
};

/** Asks with capabilities that nobody else has. */
async function askWith(url: string, subject: string, n: number) {
  const capabilities = { elicitation: {}, experimental: { [`x/${n}`]: {} } };
  const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const headers = { authorization: subject };
  const call = (more: object = {}) =>
    modern(url, 'tools/call', { name: 'ask', arguments: {}, ...more }, { meta, headers });
  const { result, error } = JSON.parse((await call()).text);
  return { result, error, decline: () => call({ ...answered(result) }) };
}

function answered(result: { requestState: string; inputRequests: object }) {
  const keys = Object.keys(result.inputRequests);
  const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: 'decline' }]));
  return { requestState: result.requestState, inputResponses };
}

test('a caller who varies its capabilities leaves connections for others, and is told what to do', async () => {
  const { url, signals } = await inFrontOfOlder({ maxConnections: 4 }, byToken);
  const asked = [await askWith(url, 'mallory', 0), await askWith(url, 'mallory', 1)] as const;
  for (const { result } of asked) expect(result.resultType).toBe('input_required');
  const refused = await askWith(url, 'mallory', 2);
  expect(refused.error.message).toMatch(
    /^The caller has too many connections .* declare the same capabilities/,
  );
  // Two others each find one.
  const ada = await askWith(url, 'ada', 0);
  const bob = await askWith(url, 'bob', 0);
  for (const { result } of [ada, bob]) expect(result.resultType).toBe('input_required');
  // An idle connection of the same caller makes room, and none of another one.
  await asked[0].decline();
  expect((await askWith(url, 'mallory', 3)).result.resultType).toBe('input_required');
  for (const one of [ada, bob, asked[1]]) {
    const { result } = JSON.parse((await one.decline()).text);
    expect(result.content[0].text).toBe('decline');
  }
  expect(signals.filter(({ aborted }) => aborted)).toEqual([]);
});

test('a caller without a connection gets one that others leave idle, and is told to retry if they use all', async () => {
  const { url } = await inFrontOfOlder({ maxConnections: 2 }, byToken);
  for (const subject of ['ada', 'bob']) await (await askWith(url, subject, 0)).decline();
  const carl = await askWith(url, 'carl', 0);
  expect(carl.result.resultType).toBe('input_required');
  const dora = await askWith(url, 'dora', 0);
  expect(dora.result.resultType).toBe('input_required');
  const refused = await askWith(url, 'eve', 0);
  expect(refused.error.message).toBe('The proxy has too many connections to its server. Retry later.');
  for (const one of [carl, dora]) {
    const { result } = JSON.parse((await one.decline()).text);
    expect(result.content[0].text).toBe('decline');
  }
});

test('a target that is none, or several, is refused at once', () => {
  expect(() => proxy({ mcpServers: {} })).toThrow('gateway');
  expect(() => proxy(['http://localhost/mcp', 'mcp.json'])).toThrow('gateway');
  expect(() => proxy('nothing' as string)).toThrow();
  expect(() => proxy('http://localhost/mcp', { identify: 'drop' } as never)).toThrow('identity');
});

test('a target that does not answer leaves its own time to the next one of the array', async () => {
  const { server } = askingServer();
  const silent = () => new Promise<never>(() => undefined);
  await using between = proxy([silent, server], { connectTimeoutMs: 200, ...quiet });
  await using client = await connect(between);
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['ask']);
});

test('the error of an array of targets names every one that was tried', async () => {
  await using between = proxy([{ command: 'no-such-command' }, 'http://127.0.0.1:1/mcp'], quiet);
  const error = await connect(between).catch((reason) => reason);
  expect(error.message).toMatch(/^Could not connect\. Tried:\n- no-such-command.*\n- http:\/\/127/);
});
