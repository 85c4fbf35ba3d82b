// Proxies and gateways in a row: questions find their way back, and what a caller names stays its own.

import { createServer, McpError, tool } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import { gateway } from 'fullmcp/gateway';
import { createHandler } from 'fullmcp/http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { serve } from '../../../../src/node.js';
import { type ProxyOptions, type ProxyServer, proxy } from '../../../../src/proxy.js';
import { unprefixed } from '../../../fixtures/unprefixed.js';
import { modern } from '../../../support/http/modern.js';
import { until } from '../../../support/until.js';

const quiet = { logger: () => undefined };
type Part = 'proxy' | 'gateway';
type Target = Parameters<typeof proxy>[0];

function inFrontOf(target: Target, part: Part, options: ProxyOptions = {}): ProxyServer {
  const made =
    part === 'proxy'
      ? proxy(target, { ...quiet, ...options })
      : gateway(
          { mcpServers: { s: { target } } },
          { ...quiet, ...(options as object), use: [unprefixed('s')] },
        );
  onTestFinished(() => made.close());
  return made;
}

/** These parts in front of a target, the first outermost. Each but the innermost is in front of a server of today. */
function chain(target: Target, parts: readonly Part[], options: ProxyOptions = {}): ProxyServer {
  const [first = 'proxy', ...rest] = parts;
  return rest.length === 0
    ? inFrontOf(target, first, options)
    : inFrontOf(chain(target, rest, options), first);
}

const chains: readonly (readonly [string, readonly Part[]])[] = [
  ['proxy'],
  ['proxy', 'proxy'],
  ['proxy', 'proxy', 'proxy'],
  ['gateway', 'proxy'],
  ['proxy', 'gateway'],
  ['gateway', 'gateway', 'proxy'],
].map((parts) => [parts.join(' in front of '), parts as readonly Part[]]);

describe.each(chains)('%s', (_name, parts) => {
  test('passes on the questions of an older server, and their answers', async () => {
    const asking = createServer({
      ...{ name: 'behind', version: '1', secret: 'a secret that is long enough for it', ...quiet },
      tools: {
        ask: tool({
          run: async (_input, ctx) => {
            const form = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) };
            const first = await ctx.elicit('first', form);
            const second = await ctx.elicit('second', form);
            return `${first.action} ${second.action}`;
          },
        }),
      },
    });
    const behind = await serve(asking, { port: 0, signals: false });
    onTestFinished(() => behind.close());
    const target = behind.url.replace('http', 'ws');
    const between = chain(target, parts, { revision: '2025-11-25' });
    const serving = await serve(between, { port: 0, signals: false });
    onTestFinished(() => serving.close());
    const answers = ['accept', 'decline'];
    const client = await connect(serving.url, {
      elicit: () =>
        answers.shift() === 'accept' ? { action: 'accept', content: { ok: true } } : { action: 'decline' },
    });
    onTestFinished(() => client.close());
    expect((await client.callTool('ask')).text).toBe('accept decline');
  });

  test('asks each of two callers only about its own call, if an older server asks both at the same time', async () => {
    const started: (() => void)[] = [];
    const asking = createServer({
      ...{ name: 'behind', version: '1', secret: 'a secret that is long enough for it', ...quiet },
      tools: {
        ask: tool({
          input: z.object({ name: z.string() }),
          run: async ({ name }, ctx) => {
            // Both calls are open before either of them asks.
            await new Promise<void>((resolve) => {
              started.push(resolve);
              if (started.length >= 2) for (const go of started) go();
            });
            const form = { message: `for ${name}`, schema: z.object({ ok: z.boolean() }) };
            return `${name} ${(await ctx.elicit('sure', form)).action}`;
          },
        }),
      },
    });
    const behind = await serve(asking, { port: 0, signals: false });
    onTestFinished(() => behind.close());
    const between = chain(behind.url.replace('http', 'ws'), parts, { revision: '2025-11-25' });
    const calls = ['ada', 'bob'].map(async (subject) => {
      const client = await connect(between, {
        caller: { subject, scopes: [], claims: {} },
        elicit: ({ message }) =>
          message === `for ${subject}` ? { action: 'accept', content: { ok: true } } : { action: 'decline' },
      });
      onTestFinished(() => client.close());
      return (await client.callTool('ask', { name: subject })).text;
    });
    expect(await Promise.all(calls)).toEqual(['ada accept', 'bob accept']);
  });

  test('keeps the idempotency keys of its callers apart, and finds a retry through another process', async () => {
    let receipts = 0;
    const bank = createServer({
      ...{ name: 'bank', version: '1', idempotency: true, ...quiet },
      tools: { pay: tool({ input: z.object({ to: z.string() }), run: () => `receipt ${++receipts}` }) },
    });
    // Two processes of everything in front of the bank.
    const replicas = [chain(bank, parts), chain(bank, parts)] as const;
    const pay = async (replica: ProxyServer, subject: string): Promise<string> => {
      const client = await connect(replica, { caller: { subject, scopes: [], claims: {} } });
      onTestFinished(() => client.close());
      return (await client.callTool('pay', { to: 'eve' }, { idempotencyKey: 'invoice-7' })).text;
    };
    expect(await pay(replicas[0], 'ada')).toBe('receipt 1');
    expect(await pay(replicas[0], 'bob')).toBe('receipt 2');
    expect(await pay(replicas[1], 'ada')).toBe('receipt 1');
    expect(await pay(replicas[1], 'bob')).toBe('receipt 2');
    // A caller without a name over the wire is none of these, whatever key it sends.
    const serving = await serve(replicas[0], { port: 0, signals: false });
    onTestFinished(() => serving.close());
    const anonymous = await connect(serving.url);
    onTestFinished(() => anonymous.close());
    const key = { idempotencyKey: 'invoice-7' };
    expect((await anonymous.callTool('pay', { to: 'eve' }, key)).text).toBe('receipt 3');
    expect((await anonymous.callTool('pay', { to: 'eve' }, key)).text).toBe('receipt 3');
    // Nor is it the program itself, which has no name, either.
    const program = await connect(replicas[0]);
    onTestFinished(() => program.close());
    expect((await program.callTool('pay', { to: 'eve' }, key)).text).toBe('receipt 4');
    expect((await program.callTool('pay', { to: 'eve' }, key)).text).toBe('receipt 4');
  });
});

test('a call through a search has the key of its caller, too', async () => {
  let receipts = 0;
  const bank = createServer({
    ...{ name: 'bank', version: '1', idempotency: true, ...quiet },
    tools: { pay: tool({ run: () => `receipt ${++receipts}` }) },
  });
  const between = inFrontOf(bank, 'proxy', { search: true });
  const pay = async (subject: string): Promise<string> => {
    const client: Client = await connect(between, { caller: { subject, scopes: [], claims: {} } });
    onTestFinished(() => client.close());
    const call = { name: 'pay', arguments: {} };
    return (await client.callTool('call_tool', call, { idempotencyKey: 'invoice-7' })).text;
  };
  expect(await Promise.all([pay('ada'), pay('bob')])).toHaveLength(2);
  expect(await pay('ada')).not.toBe(await pay('bob'));
  expect(receipts).toBe(2);
});

test('callers who share the credentials of a proxy do not share keys', async () => {
  let receipts = 0;
  const bank = createServer({
    ...{ name: 'bank', version: '1', idempotency: true, ...quiet },
    tools: { pay: tool({ run: () => `receipt ${++receipts}` }) },
  });
  const between = inFrontOf(bank, 'proxy', {
    identity: () => ({ key: 'team', caller: { subject: 'team', scopes: [], claims: {} } }),
  });
  for (const subject of ['ada', 'bob', 'ada']) {
    const client = await connect(between, { caller: { subject, scopes: [], claims: {} } });
    onTestFinished(() => client.close());
    await client.callTool('pay', {}, { idempotencyKey: 'invoice-7' });
  }
  expect(receipts).toBe(2);
});

test('a caller cannot pass itself off as one of many, neither to the server nor to a proxy behind', async () => {
  const metas: unknown[] = [];
  const behind = createServer({
    ...{ name: 'behind', version: '1', ...quiet },
    use: [
      (call, next) => {
        if (call.method === 'tools/call') metas.push((call.params['_meta'] as object) ?? {});
        return next(call);
      },
    ],
    tools: { go: tool({ run: () => 'went' }) },
  });
  const serving = await serve(inFrontOf(behind, 'proxy'), { port: 0, signals: false });
  onTestFinished(() => serving.close());
  const forged = { 'fullmcp/caller': 'somebody else' };
  await modern(serving.url, 'tools/call', { name: 'go', arguments: {} }, { meta: forged });
  const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  await modern(
    serving.url,
    'tools/call',
    { name: 'go', arguments: {} },
    { meta: { ...forged, ...capabilities } },
  );
  expect(metas).toHaveLength(2);
  expect(metas[0]).not.toHaveProperty('fullmcp/caller');
  expect(metas[1]).toHaveProperty(['fullmcp/caller']);
  expect(JSON.stringify(metas)).not.toContain('somebody else');
});

test('a caller whose name and tag together read like the name of another one is not asked about the calls of that one', async () => {
  let open = 0;
  const asking = createServer({
    ...{ name: 'behind', version: '1', secret: 'a secret that is long enough for it', ...quiet },
    tools: {
      ask: tool({
        input: z.object({ name: z.string() }),
        run: async ({ name }, ctx) => {
          open++;
          await until('both calls are open', () => open === 2);
          const form = { message: `for ${name}`, schema: z.object({ ok: z.boolean() }) };
          return (await ctx.elicit('sure', form)).action;
        },
      }),
    },
  });
  const behind = await serve(asking, { port: 0, signals: false });
  onTestFinished(() => behind.close());
  const between = inFrontOf(behind.url.replace('http', 'ws'), 'proxy', { revision: '2025-11-25' });
  const ask = async (subject: string, meta: JsonObject) => {
    const { inputRequests } = await between.dispatch({
      ...{ id: 1, method: 'tools/call', notify: () => undefined, signal: new AbortController().signal },
      params: { name: 'ask', arguments: { name: subject }, _meta: meta },
      auth: { subject, scopes: [], claims: {} },
      peer: {
        revision: '2026-07-28',
        client: undefined,
        capabilities: { elicitation: { form: {} } },
        logLevel: undefined,
      },
    });
    const asked = Object.values(inputRequests as Record<string, { params: { message: string } }>);
    return asked.map(({ params }) => params.message);
  };
  const asked = [ask('ada lovelace', {}), ask('ada', { 'fullmcp/caller': 'lovelace' })];
  expect(await Promise.race(asked)).toHaveLength(1);
  expect(await Promise.all(asked)).toEqual([['for ada lovelace'], ['for ada']]);
});

describe.each([
  ['today', {}],
  ['2025', { revision: '2025-11-25' }],
] as const)('the state of a call to a server of %s that waits for answers', (_era, options) => {
  const chained: readonly (readonly Part[])[] = [
    ['proxy'],
    ['proxy', 'proxy'],
    ['gateway', 'proxy'],
    ['gateway'],
  ];

  test.each(chained.map((parts) => [parts.join(' in front of '), parts] as const))(
    'is of use only to the caller that got it from a %s',
    async (_name, parts) => {
      const behind = await serve(confirming(), { port: 0, signals: false });
      onTestFinished(() => behind.close());
      const front = chain(behind.url.replace('http', 'ws'), parts, options);
      const as = callers(front);
      const { requestState, inputRequests } = await as('ada');
      const inputResponses = answersTo(inputRequests);
      const refused = { error: { code: 'invalid_params' } };
      for (const other of ['bob', undefined])
        expect(await as(other, { requestState, inputResponses })).toMatchObject(refused);
      const [, ...rest] = String(requestState).split('.');
      for (const cut of [rest.join('.'), rest.at(-1)])
        expect(await as('bob', { requestState: cut, inputResponses })).toMatchObject(refused);
      expect(await as('ada', { requestState, inputResponses })).toMatchObject({ content: [{ text: 'yes' }] });
      const anonymous = await as(undefined);
      const answered = {
        requestState: anonymous.requestState,
        inputResponses: answersTo(anonymous.inputRequests),
      };
      expect(await as(undefined, answered)).toMatchObject({ content: [{ text: 'yes' }] });
    },
  );
});

test('processes of a proxy with the same secret continue the calls of each other, and others say what is missing', async () => {
  const behind = await serve(confirming(), { port: 0, signals: false });
  onTestFinished(() => behind.close());
  const secret = 'one secret for all processes of the proxy';
  const [one, two, other] = [secret, secret, undefined].map((own) => {
    const front = proxy(behind.url, quiet);
    onTestFinished(() => front.close());
    if (own !== undefined) createHandler(front, { secret: own });
    return front;
  }) as [ProxyServer, ProxyServer, ProxyServer];
  const { requestState, inputRequests } = await callers(one)('ada');
  const answered = { requestState, inputResponses: answersTo(inputRequests) };
  const failed = await callers(other)('ada', answered);
  expect(failed.error?.message).toContain('Set MCP_SECRET to the same value for all of them');
  expect(await callers(two)('ada', answered)).toMatchObject({ content: [{ text: 'yes' }] });
});

interface Round {
  readonly requestState?: unknown;
  readonly inputRequests?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** A server whose only tool asks once. */
function confirming() {
  const form = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) };
  return createServer({
    ...{ name: 'behind', version: '1', secret: 'a secret that is long enough for it', ...quiet },
    tools: {
      ask: tool({
        run: async (_, ctx) => ((await ctx.elicit('sure', form)).action === 'accept' ? 'yes' : 'no'),
      }),
    },
  });
}

function answersTo(inputRequests: Round['inputRequests'] = {}): JsonObject {
  const accepted = { action: 'accept', content: { ok: true } };
  return Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted]));
}

/** Calls the tool as somebody, or as nobody. */
function callers({ dispatch }: ProxyServer) {
  return async (who: string | undefined, more: JsonObject = {}): Promise<Round> => {
    try {
      return (await dispatch({
        ...{ id: 1, method: 'tools/call', notify: () => undefined, signal: new AbortController().signal },
        params: { name: 'ask', arguments: {}, ...more },
        auth: who === undefined ? undefined : { subject: who, scopes: [], claims: {} },
        via: { transport: 'http' },
        peer: {
          revision: '2026-07-28',
          client: undefined,
          capabilities: { elicitation: { form: {} } },
          logLevel: undefined,
        },
      } as never)) as Round;
    } catch (error) {
      return { error: error as McpError };
    }
  };
}

test('a server cannot end the calls that a proxy holds with a state that looks like one of the proxy', async () => {
  const states: unknown[] = [];
  const lying = {
    dispatch: async (call: { method: string; params: Record<string, unknown> }) => {
      if (call.method === 'server/discover')
        return {
          ...{ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
          ...{ ttlMs: 0, cacheScope: 'private' },
        };
      if (call.method !== 'tools/call') throw new McpError('method_not_found', 'There are no lists.');
      states.push(call.params['requestState']);
      return {
        resultType: 'input_required',
        inputRequests: {},
        requestState: states.length === 1 ? 'fullmcp-proxy.a' : 'fullmcp-proxy-login.{}',
      };
    },
  };
  const serving = await serve(inFrontOf(lying as never, 'proxy'), { port: 0, signals: false });
  onTestFinished(() => serving.close());
  let requestState: string | undefined;
  for (let round = 0; round < 3; round++) {
    const params = { name: 'x', arguments: {}, ...(requestState && { requestState, inputResponses: {} }) };
    ({ requestState } = JSON.parse((await modern(serving.url, 'tools/call', params, {})).text).result);
  }
  expect(states).toEqual([undefined, 'fullmcp-proxy.a', 'fullmcp-proxy-login.{}']);
});

test('callers without a name take few connections of proxies in a row, however many calls they make', async () => {
  const behind = await serve(
    createServer({
      ...{ name: 'behind', version: '1', ...quiet },
      tools: { hello: tool({ run: () => 'hello' }) },
    }),
    { port: 0, signals: false },
  );
  onTestFinished(() => behind.close());
  const older: ProxyOptions = { revision: '2025-11-25', maxConnections: 4 };
  const inner = await serve(inFrontOf(behind.url, 'proxy', older), { port: 0, signals: false });
  onTestFinished(() => inner.close());
  const outer = await serve(chain(inner.url, ['proxy', 'proxy'], older), { port: 0, signals: false });
  onTestFinished(() => outer.close());
  const client = await connect(outer.url, { elicit: () => ({ action: 'decline' }) });
  onTestFinished(() => client.close());
  for (let count = 0; count < 12; count++) expect((await client.callTool('hello')).text).toBe('hello');
  // Two at a time are what a caller may have of four.
  const both = await Promise.all([client.callTool('hello'), client.callTool('hello')]);
  expect(both.map(({ text }) => text)).toEqual(['hello', 'hello']);
  expect((await client.callTool('hello')).text).toBe('hello');
});

test.each([
  ['by its session', undefined],
  ['by its credentials', () => ({ subject: 'the proxy in front', scopes: [], claims: {} })],
] as const)(
  'a proxy that knows the proxy in front %s asks each of its callers only about its own call',
  async (_how, auth) => {
    let open = 0;
    const asking = createServer({
      ...{ name: 'behind', version: '1', secret: 'a secret that is long enough for it', ...quiet },
      tools: {
        ask: tool({
          input: z.object({ name: z.string() }),
          run: async ({ name }, ctx) => {
            open++;
            await until('all calls are open', () => open >= 4);
            const form = { message: `for ${name}`, schema: z.object({ ok: z.boolean() }) };
            return `${name} ${(await ctx.elicit('sure', form)).action}`;
          },
        }),
      },
    });
    const behind = await serve(asking, { port: 0, signals: false });
    onTestFinished(() => behind.close());
    const older: ProxyOptions = { revision: '2025-11-25' };
    const inner = await serve(inFrontOf(behind.url, 'proxy', older), {
      ...{ port: 0, signals: false },
      ...(auth && { auth: auth as never }),
    });
    onTestFinished(() => inner.close());
    const front = chain(inner.url, ['proxy', 'proxy'], older);
    const outer = await serve(front, { port: 0, signals: false });
    onTestFinished(() => outer.close());
    const ask = async (name: string, target: Target, caller?: string) => {
      const client = await connect(target, {
        ...(caller && { caller: { subject: caller, scopes: [], claims: {} } }),
        elicit: ({ message }) =>
          message === `for ${name}` ? { action: 'accept', content: { ok: true } } : { action: 'decline' },
      });
      onTestFinished(() => client.close());
      return (await client.callTool('ask', { name })).text;
    };
    const calls = [
      ask('ada', front, 'ada'),
      ask('bob', front, 'bob'),
      ask('x', outer.url),
      ask('y', outer.url),
    ];
    expect(await Promise.all(calls)).toEqual(['ada accept', 'bob accept', 'x accept', 'y accept']);
  },
);
