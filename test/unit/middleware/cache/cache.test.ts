import type { Auth, Call, Dispatch, Middleware, Outcome } from 'fullmcp';
import { McpError } from 'fullmcp';
import { type CacheOptions, cache } from 'fullmcp/middleware';
import { buildCall, toolResult } from 'fullmcp/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Lifetime } from '../../../../src/async/lifetime.js';

// The middleware alone, in front of a `Dispatch` that counts its calls.

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ada: Auth = { subject: 'ada', scopes: [], claims: {} };
const bob: Auth = { subject: 'bob', scopes: [], claims: {} };
const read = (uri: string, overrides: Partial<Call> = {}) =>
  buildCall('resources/read', { uri }, { auth: ada, ...overrides });
const search = (overrides: Partial<Call> = {}, args: object = { q: 'tea' }) =>
  buildCall('tools/call', { name: 'search', arguments: args }, { auth: ada, ...overrides });

/** A `Dispatch` behind a cache. Each run has a number, which is the result. */
function counted(options: Partial<CacheOptions> = {}, extra: object | ((call: Call) => object) = {}) {
  const middleware = cache({ ttlMs: 60_000, tools: ['search'], ...options });
  const runs: Call[] = [];
  const next: Dispatch = async (call) => {
    runs.push(call);
    const more = typeof extra === 'function' ? extra(call) : extra;
    return { ...toolResult(`${runs.length}`), ...more };
  };
  return { runs, ask: async (call: Call) => textOf(await middleware(call, next)), middleware, next };
}

function textOf(outcome: Outcome): string {
  return (outcome['content'] as { text: string }[])[0]?.text ?? '';
}

describe('a cache', () => {
  it('answers the same call of the same caller with the same result, until it expires', async () => {
    const { ask } = counted();
    expect([await ask(read('a:1')), await ask(read('a:1')), await ask(read('a:2'))]).toEqual(['1', '1', '2']);
    vi.advanceTimersByTime(59_999);
    expect(await ask(read('a:1'))).toBe('1');
    vi.advanceTimersByTime(1);
    expect(await ask(read('a:1'))).toBe('3');
  });

  it('takes arguments in another order for the same, and others for others', async () => {
    const { ask } = counted();
    expect(await ask(search({}, { a: 1, b: { c: 2, d: 3 } }))).toBe('1');
    expect(await ask(search({}, { b: { d: 3, c: 2 }, a: 1 }))).toBe('1');
    expect(await ask(search({}, { a: 1, b: { c: 2 } }))).toBe('2');
    expect(await ask(search({}, { a: '1', b: { c: 2 } }))).toBe('3');
    expect(await ask(buildCall('prompts/get', { name: 'search', arguments: {} }, { auth: ada }))).toBe('4');
  });

  it.each<[string, Partial<Call>]>([
    ['another subject', { auth: bob }],
    ['the same subject of an issuer', { auth: { ...ada, issuer: 'https://id.example' } }],
    ['other scopes', { auth: { ...ada, scopes: ['admin'] } }],
    ['other claims', { auth: { ...ada, claims: { tenant: 'b' } } }],
    ['nobody', { auth: undefined }],
    ['the program itself', { auth: undefined, isLocal: true }],
    ['a connection', { auth: undefined, via: { transport: 'websocket', session: new Lifetime() } }],
  ])('keeps a private result from %s', async (_, overrides) => {
    const { ask } = counted();
    expect(await ask(search())).toBe('1');
    expect(await ask(search(overrides))).toBe('2');
    expect(await ask(search())).toBe('1');
  });

  it('keeps nothing private for callers that it cannot tell apart', async () => {
    const { ask } = counted();
    const anonymous = { auth: undefined, via: { transport: 'http' } };
    expect([await ask(search(anonymous)), await ask(search(anonymous))]).toEqual(['1', '2']);
    const sets: Auth = { ...ada, claims: { roles: new Set(['admin']) } };
    expect([await ask(search({ auth: sets })), await ask(search({ auth: sets }))]).toEqual(['3', '4']);
  });

  it('keeps private results for each connection of anonymous callers', async () => {
    const { ask } = counted();
    const [one, two] = [new Lifetime(), new Lifetime()].map((session) => ({
      auth: undefined,
      via: { transport: 'websocket', session },
    }));
    expect([await ask(search(one)), await ask(search(two)), await ask(search(one))]).toEqual(['1', '2', '1']);
  });

  it('shares a public result with all callers', async () => {
    const { ask } = counted({}, { cacheScope: 'public' });
    const callers = [{ auth: ada }, { auth: bob }, { auth: undefined }, { auth: undefined, isLocal: true }];
    for (const caller of callers) expect(await ask(read('a:1', caller))).toBe('1');
  });

  it('shares results without a scope only if the option says so, and never those that say otherwise', async () => {
    const shared = counted({ cacheScope: 'public' });
    expect([await shared.ask(search()), await shared.ask(search({ auth: bob }))]).toEqual(['1', '1']);
    const marked = counted({ cacheScope: 'public' }, { cacheScope: 'private' });
    expect([await marked.ask(search()), await marked.ask(search({ auth: bob }))]).toEqual(['1', '2']);
    const wrong = counted({ cacheScope: 'public' }, { cacheScope: 'PUBLIC' });
    expect([await wrong.ask(search()), await wrong.ask(search({ auth: bob }))]).toEqual(['1', '2']);
  });

  it('keeps a result for its own `ttlMs` at most, and says how much of it is left', async () => {
    const { middleware, next, runs } = counted({ ttlMs: 50_000 }, { ttlMs: 100_000 });
    const ttl = async () => (await middleware(read('a:1'), next))['ttlMs'];
    expect(await ttl()).toBe(100_000);
    vi.advanceTimersByTime(49_000);
    expect(await ttl()).toBe(51_000);
    vi.advanceTimersByTime(1000);
    expect(await ttl()).toBe(100_000);
    expect(runs).toHaveLength(2);
    const short = counted({ ttlMs: 50_000 }, { ttlMs: 1000 });
    expect(await short.ask(read('a:1'))).toBe('1');
    vi.advanceTimersByTime(1000);
    expect(await short.ask(read('a:1'))).toBe('2');
  });

  it.each([0, -1, Number.NaN, '60000', null])('does not keep a result whose `ttlMs` is %j', async (ttlMs) => {
    const { ask } = counted({}, { ttlMs });
    expect([await ask(read('a:1')), await ask(read('a:1'))]).toEqual(['1', '2']);
  });

  it('does not keep a result for longer if the clock of the computer is set back, or jumps', async () => {
    const { ask } = counted();
    await ask(read('a:1'));
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(60_000);
    expect(await ask(read('a:1'))).toBe('2');
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await ask(read('a:1'))).toBe('3');
  });

  it.each<[string, object]>([
    ['results with isError', { isError: true }],
    ['questions', { resultType: 'input_required', requestState: 'x' }],
    ['tasks', { resultType: 'task', task: { taskId: '1' } }],
    [
      'results that outputBudget has shortened',
      {
        content: [{ type: 'resource_link', name: 'rest', uri: `output://${'0'.repeat(32)}/0` }],
      },
    ],
  ])('does not keep %s', async (_, extra) => {
    const { ask, runs } = counted({}, extra);
    await ask(search());
    await ask(search());
    expect(runs).toHaveLength(2);
  });

  it('does not keep errors', async () => {
    const middleware = cache({ ttlMs: 1000 });
    const next = vi.fn(async () => Promise.reject(new McpError('resource_not_found', 'None')));
    await expect(middleware(read('a:1'), next)).rejects.toThrow('None');
    await expect(middleware(read('a:1'), next)).rejects.toThrow('None');
    expect(next).toHaveBeenCalledTimes(2);
  });

  it.each<[string, object]>([
    ['answers', { inputResponses: {} }],
    ['the state of an earlier round', { requestState: 'x' }],
    ['an idempotency key', { _meta: { 'fullmcp/idempotencyKey': 'k' } }],
    ['long parameters', { more: 'x'.repeat(5000) }],
    ['a number that JSON does not have', { more: Number.NaN }],
  ])('neither keeps nor uses results for calls with %s', async (_, params) => {
    const { ask } = counted();
    const call = () => buildCall('resources/read', { uri: 'a:1', ...params }, { auth: ada });
    expect([await ask(read('a:1')), await ask(call()), await ask(call())]).toEqual(['1', '2', '3']);
  });

  it('keeps the results of tools only if they are named, or declare that they change nothing', async () => {
    const none = counted({ tools: undefined });
    expect([await none.ask(search()), await none.ask(search())]).toEqual(['1', '2']);
    const tools = [{ name: 'search', inputSchema: {}, annotations: { readOnlyHint: true } }];
    const { ask } = counted({ tools: 'readOnly' }, ({ method }) =>
      method === 'tools/list' ? { tools } : {},
    );
    expect([await ask(search()), await ask(search())]).toEqual(['1', '2']);
    await ask(buildCall('tools/list', {}, { auth: ada }));
    expect([await ask(search()), await ask(search())]).toEqual(['4', '4']);
  });

  it('forgets what it keeps for a caller after a call that may change something, also one that fails', async () => {
    const { ask, middleware } = counted({ tools: ['search'] }, ({ params }) =>
      params['uri'] === 'public:1' ? { cacheScope: 'public' } : {},
    );
    const fill = async () => [
      await ask(search()),
      await ask(read('a:1')),
      await ask(search({ auth: bob })),
      await ask(read('public:1')),
    ];
    expect(await fill()).toEqual(['1', '2', '3', '4']);
    expect(await ask(buildCall('tools/call', { name: 'buy' }, { auth: ada }))).toBe('5');
    expect(await fill()).toEqual(['6', '7', '3', '4']);
    const failing = middleware(buildCall('tasks/get', { taskId: '1' }, { auth: ada }), () =>
      Promise.reject(new Error('lost')),
    );
    await expect(failing).rejects.toThrow('lost');
    expect(await fill()).toEqual(['8', '9', '3', '4']);
    await ask(buildCall('shop/restock', {}, { auth: ada }));
    expect((await fill()).slice(0, 2)).toEqual(['11', '12']);
  });

  it('gives each caller a copy that nobody else can change', async () => {
    const list = [1, 2, 3];
    const { middleware, next } = counted({}, () => ({ structuredContent: { list } }));
    const first = await middleware(search(), next);
    list.push(4);
    (first['structuredContent'] as { list: number[] }).list.push(5);
    const second = await middleware(search(), next);
    expect(second['structuredContent']).toEqual({ list: [1, 2, 3] });
    (second['structuredContent'] as { list: number[] }).list.push(6);
    expect((await middleware(search(), next))['structuredContent']).toEqual({ list: [1, 2, 3] });
  });

  it('drops the least recently used results when there are too many, or too many characters', async () => {
    const { ask } = counted({ maxEntries: 2 });
    for (const uri of ['a:1', 'a:2', 'a:1', 'a:3']) await ask(read(uri));
    expect([await ask(read('a:1')), await ask(read('a:3')), await ask(read('a:2'))]).toEqual(['1', '3', '4']);
    const large = counted({ maxChars: 10_000 }, ({ params }) => ({
      more: 'x'.repeat(Number(params['uri'])),
    }));
    expect([await large.ask(read('2600')), await large.ask(read('2600'))]).toEqual(['1', '2']);
    for (const uri of ['2001', '2002', '2003', '2004', '2005']) await large.ask(read(uri));
    expect([await large.ask(read('2005')), await large.ask(read('2001'))]).toEqual(['7', '8']);
  });

  it('keeps results only for the time that a function returns for the call', async () => {
    const { ask } = counted({ ttlMs: ({ params }) => (params['uri'] === 'a:1' ? 1000 : undefined) });
    expect([await ask(read('a:1')), await ask(read('a:1'))]).toEqual(['1', '1']);
    expect([await ask(read('a:2')), await ask(read('a:2'))]).toEqual(['2', '3']);
  });

  it.each<[unknown, string]>([
    [undefined, 'the options must be an object'],
    [{}, 'cache: "ttlMs" must be a function or a number of milliseconds, 1 or more, not '],
    [{ ttlMs: 0 }, 'cache: "ttlMs" must be a function or a number of milliseconds, 1 or more, not '],
    [{ ttlMs: 1, tools: 'readonly' }, '"tools" must be "readOnly" or an array of strings, not '],
    [{ ttlMs: 1, tools: [1] }, '"tools" must be "readOnly" or an array of strings, not '],
    [{ ttlMs: 1, cacheScope: 'all' }, '"cacheScope" must be "public" or "private", not "all".'],
    [{ ttlMs: 1, maxEntries: 0 }, '"maxEntries" must be an integer, 1 or more, not 0.'],
    [{ ttl: 1 }, 'cache has no option "ttl". Did you mean "ttlMs"?'],
  ])('rejects %j', (options, message) => {
    expect(() => cache(options as CacheOptions)).toThrow(message);
  });
});

describe('a result that depends on more than its parameters', () => {
  const header = (values: Record<string, string>) => ({
    http: { header: (name: string) => values[name], remoteAddress: '192.0.2.1' },
  });

  it.each<[string, (call: Call) => unknown, Partial<Call>, Partial<Call>]>([
    [
      'a header',
      ({ http }) => http?.header('x-tenant'),
      header({ 'x-tenant': 'a' }),
      header({ 'x-tenant': 'b' }),
    ],
    [
      'the address',
      ({ http }) => http?.remoteAddress,
      header({}),
      { http: { header: () => undefined, remoteAddress: '192.0.2.2' } },
    ],
    [
      'the capabilities of the client',
      ({ peer }) => peer.capabilities,
      {},
      { peer: { ...buildCall('').peer, capabilities: { sampling: {} } } },
    ],
    [
      'the revision',
      ({ peer }) => peer.revision,
      {},
      { peer: { ...buildCall('').peer, revision: '2025-06-18' } },
    ],
    [
      'the fields of _meta',
      ({ params }) => params['_meta'],
      { params: { uri: 'a:1', _meta: { 'example.com/locale': 'de' } } },
      { params: { uri: 'a:1', _meta: { 'example.com/locale': 'en' } } },
    ],
    [
      'a copy of everything',
      ({ params, peer }) => ({ ...params, peer: { ...peer } }),
      {},
      { peer: { ...buildCall('').peer, client: { name: 'other', version: '1' } } },
    ],
  ])('is kept for each value of %s that was read', async (_, look, one, other) => {
    for (const cacheScope of ['private', 'public']) {
      const { ask } = counted({}, (call) => {
        look(call);
        return { cacheScope };
      });
      const calls = [one, other, one, other].map((overrides) => ask(read('a:1', overrides)));
      const texts = await Promise.all(calls);
      expect(texts[0]).not.toBe(texts[1]);
      const again = [await ask(read('a:1', one)), await ask(read('a:1', other))];
      expect(new Set(again).size).toBe(2);
      expect([await ask(read('a:1', one)), await ask(read('a:1', other))]).toEqual(again);
    }
  });

  it('is the same for all values that were not read, and for fields of _meta that differ from call to call', async () => {
    const { ask } = counted({}, ({ params }) => ({ seen: params['_meta'] === undefined }));
    const meta = (fields: object) => ({ params: { uri: 'a:1', _meta: fields } });
    expect(await ask(read('a:1', { ...header({ 'x-id': '1' }), ...meta({ traceparent: '1' }) }))).toBe('1');
    expect(
      await ask(read('a:1', { ...header({ 'x-id': '2' }), ...meta({ traceparent: '2', progressToken: 7 }) })),
    ).toBe('1');
  });

  it('is not kept if the client was sent something besides progress and log messages', async () => {
    const kept = counted({}, ({ notify }) => {
      notify('notifications/message', {});
      return {};
    });
    expect([await kept.ask(search()), await kept.ask(search())]).toEqual(['1', '1']);
    const other = counted({}, ({ notify }) => {
      notify('notifications/elicitation/complete', {});
      return {};
    });
    expect([await other.ask(search()), await other.ask(search())]).toEqual(['1', '2']);
  });
});

describe('the cache of a client', () => {
  const forClient = (middleware: ReturnType<typeof cache>): Middleware =>
    middleware.forClient({ target: 'test', link: () => undefined, forget: () => undefined });

  it('keeps tools, prompts and completions, and leaves lists and reads to the client itself', async () => {
    const { middleware, next } = counted();
    const ask = async (call: Call) => textOf(await forClient0(call, next));
    const forClient0 = forClient(middleware);
    expect([await ask(search()), await ask(search({ auth: undefined }))]).toEqual(['1', '1']);
    expect([await ask(read('a:1')), await ask(read('a:1'))]).toEqual(['2', '3']);
  });
});
