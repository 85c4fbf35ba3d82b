import { readdirSync, readFileSync } from 'node:fs';
import * as fullmcp from 'fullmcp';
import { type Context, createServer, event, image, inProcess, memoryStore, resource, tool } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import * as http from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { fromOpenAPI } from 'fullmcp/openapi';
import { testClient } from 'fullmcp/testing';
import { afterEach, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';

// Limitations that pages name, in types, definitions and questions. A test passes while its limitation holds: when one fails, the
// feature has arrived, and the sentence that names the test must go, together with the test.

const quiet = { name: 'limits', version: '1.0.0', logger: () => undefined };
const sure = { message: 'Sure?', schema: z.object({ sure: z.boolean() }) };
const yes = () => ({ action: 'accept' as const, content: { sure: true } });

afterEach(() => vi.restoreAllMocks());

test('a tool that is written inside createServer does not see the types of lifespan and user', () => {
  createServer({
    ...quiet,
    lifespan: async function* () {
      yield { rows: ['a'] };
    },
    user: () => ({ account: 'ada' }),
    tools: {
      find: tool({
        run: (_input, ctx) => {
          expectTypeOf(ctx.state).toBeUnknown();
          expectTypeOf(ctx.user).toBeUnknown();
          return 'found';
        },
      }),
    },
  });
});

test('a typed client is not told that its type belongs to another server', async () => {
  const add = tool({
    input: z.object({ a: z.number() }),
    output: z.object({ sum: z.number() }),
    run: ({ a }) => ({ sum: a }),
  });
  const other = createServer({ ...quiet, tools: { add } });
  const server = createServer({
    ...quiet,
    tools: { add: tool({ input: z.object({ a: z.number() }), run: () => ({ sum: 'not a number' }) }) },
  });
  await using client = await connect<typeof other>(server as unknown as typeof other);
  const result = await client.tool.add({ a: 1 });
  expectTypeOf(result.sum).toBeNumber();
  expect(result.sum).toBe('not a number');
});

test('connect with the path of a config file has the type of a client of one server', () => {
  const path = './mcp.json' as string;
  const open = () => connect(path);
  expectTypeOf<Awaited<ReturnType<typeof open>>>().toExtend<Client>();
  expectTypeOf<Awaited<ReturnType<typeof open>>>().not.toHaveProperty('member');
});

test('a handler knows no id of a session', async () => {
  expectTypeOf<Context>().not.toHaveProperty('sessionId');
  expectTypeOf<Context>().not.toHaveProperty('session');
  const server = createServer({ ...quiet, tools: { keys: tool({ run: (_, ctx) => 'sessionId' in ctx }) } });
  await using client = await testClient(server);
  expect((await client.callTool('keys')).text).toBe('false');
});

test('image takes bytes, and reads neither a file nor a URL', () => {
  // @ts-expect-error A path or a URL in an object is not data.
  expect(() => image({ path: 'chart.png' }, 'image/png')).toThrow();
  // @ts-expect-error The same with a URL.
  expect(() => image({ url: 'https://example.com/chart.png' }, 'image/png')).toThrow();
});

test('a server has no low-level server inside', () => {
  const server = createServer(quiet);
  expect(server).not.toHaveProperty('server');
  expectTypeOf(server).not.toHaveProperty('server');
});

test('the package exports no transport interface, no builder, no system() and no function for spans', () => {
  const names = [...Object.keys(fullmcp), ...Object.keys(http)].map((name) => name.toLowerCase());
  const left = ['transport', 'createtransport', 'builder', 'serverbuilder', 'system', 'span', 'withspan'];
  for (const name of left) expect(names).not.toContain(name);
});

test('the package has no entry and no command for React, agents, bundling, tunnels and codemods', () => {
  const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const entries = Object.keys((JSON.parse(read('package.json')) as { readonly exports: object }).exports);
  const commands = readdirSync(new URL('../../docs/cli', import.meta.url)).map((file) =>
    file.replace(/\.md$/, ''),
  );
  expect([entries.length, commands.length].every((count) => count > 20)).toBe(true);
  for (const name of ['react', 'agent', 'agents', 'bundle', 'tunnel', 'codemod']) {
    expect(entries).not.toContain(`./${name}`);
    expect(commands).not.toContain(name);
  }
});

test('the ids of a client are numbers that count up', async () => {
  const ids: unknown[] = [];
  const handler = http.createHandler(createServer({ ...quiet, tools: { hi: tool({ run: () => 'hi' }) } }));
  onTestFinished(() => handler.close());
  await using client = await connect('http://localhost/mcp', {
    fetch: async (input, init) => {
      const { id } = JSON.parse(String(init?.body)) as { readonly id?: unknown };
      if (id !== undefined) ids.push(id);
      return handler(new Request(input, init));
    },
  });
  await client.callTool('hi');
  await client.callTool('hi');
  expect(ids.slice(-2)).toEqual([expect.any(Number), Number(ids.at(-2)) + 1]);
});

test('a question inside a step, after its first await, waits until the call times out', async () => {
  const server = createServer({
    ...quiet,
    tools: {
      stuck: tool({
        timeoutMs: 200,
        run: (_, ctx) =>
          ctx.step('one', async () => {
            await Promise.resolve();
            return (await ctx.ask('sure', sure)).sure;
          }),
      }),
    },
  });
  await using client = await testClient(server, { elicit: yes });
  expect((await client.callTool('stuck')).text).toBe('stuck took longer than 200 ms and was stopped');
});

test('work beside a question runs again in the next run', async () => {
  let runs = 0;
  const server = createServer({
    ...quiet,
    tools: {
      both: tool({
        run: async (_, ctx) => {
          const [answer] = await Promise.all([ctx.ask('sure', sure), Promise.resolve(++runs)]);
          return answer.sure;
        },
      }),
    },
  });
  await using client = await testClient(server, { elicit: yes });
  await client.callTool('both');
  expect(runs).toBe(2);
});

test('a form that no client can show is reported with the first call, not when the server is created', async () => {
  const schema = z.object({ inner: z.object({ deep: z.array(z.object({ a: z.string() })) }) });
  const problems: string[] = [];
  const server = createServer({
    ...quiet,
    logger: (_level, message, error) => problems.push(`${message} ${error}`),
    tools: {
      asks: tool({ run: async (_, ctx) => void (await ctx.ask('form', { message: 'Deep?', schema })) }),
    },
  });
  expect(problems).toEqual([]);
  await using client = await testClient(server, { elicit: yes });
  await client.callTool('asks').catch(() => undefined);
  expect(problems.join()).toContain('inner');
});

test('the handler of a cancelled task continues if it ignores its signal', async () => {
  let release = (): void => undefined;
  let end: (text: string) => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const ended = new Promise<string>((resolve) => (end = resolve));
  const server = createServer({
    ...quiet,
    tools: {
      deaf: tool({
        task: 'required',
        run: async () => {
          await held;
          end('the handler went on');
          return 'done';
        },
      }),
    },
  });
  await using client = await testClient(server);
  const task = await client.startTool('deaf');
  await task.cancel();
  release();
  expect(await ended).toBe('the handler went on');
});

test('a task has no headers when another process resumes it', async () => {
  const store = { ...memoryStore(), close: async () => undefined };
  const requests: boolean[] = [];
  const build = () =>
    createServer({
      ...quiet,
      secret: 'x'.repeat(32),
      store,
      user: ({ request }) => void requests.push(request !== undefined),
      tools: {
        slow: tool({
          task: 'required',
          run: (_, ctx) =>
            requests.length > 1
              ? 'done'
              : new Promise<string>((_resolve, reject) => {
                  ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
                }),
        }),
      },
    });
  const serving = await serve(build(), { port: 0, signals: false, drainMs: 0 });
  const client = await connect(serving.url);
  const { id } = await client.startTool('slow');
  await expect.poll(() => requests).toEqual([true]);
  await serving.close();
  await client.close();
  await using resumed = await serve(build(), { port: 0, signals: false });
  await using later = await connect(resumed.url);
  expect((await later.task(id ?? '').result()).text).toBe('done');
  expect(requests).toEqual([true, false]);
});

test('links, callbacks and webhooks of an OpenAPI document become no tools', async () => {
  const operation = (operationId: string) => ({ operationId, responses: { 200: { description: 'OK' } } });
  const document = {
    openapi: '3.1.0',
    info: { title: 'API', version: '1' },
    servers: [{ url: 'https://api.example.com' }],
    paths: {
      '/items': {
        get: {
          ...operation('listItems'),
          callbacks: { changed: { '{$request.query.url}': { post: operation('itemChanged') } } },
        },
      },
    },
    webhooks: { arrived: { post: operation('itemArrived') } },
  };
  await using client = await testClient(createServer({ ...quiet, ...(await fromOpenAPI(document)) }));
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['listItems']);
});

test('the package names no public address of the project', () => {
  const { repository } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly repository?: { readonly url: string };
  };
  expect(repository?.url ?? 'https://example.invalid/').toContain('example.invalid');
});

test('a wrong every or cron is reported when the server starts, not when it is created', async () => {
  const make = (times: { every: string } | { cron: string }) =>
    createServer({
      ...quiet,
      events: {
        tick: event({ payload: { type: 'object' }, schedule: { ...times, run: () => undefined } }),
      },
    });
  await using every = make({ every: '5 minutes' });
  await using cron = make({ cron: '61 * * * *' });
  await expect(every.start()).rejects.toThrow('event "tick": "schedule.every" must be a time');
  await expect(cron.start()).rejects.toThrow('event "tick": "schedule.cron" has "61" for the minute');
});

test('the response of a handler comes although a slow store has not kept the change that it announced as an event', async () => {
  const { write, ...rest } = memoryStore();
  let hasBegun = false;
  const server = createServer({
    ...quiet,
    store: {
      ...rest,
      write(changes, options) {
        if (!changes.some((change) => change.do === 'append' && change.list.startsWith('event-log')))
          return write(changes, options);
        hasBegun = true;
        return new Promise(() => undefined);
      },
    },
    resources: { 'config://app': resource({ read: () => 'a' }) },
    events: { app_changed: event({ resource: 'config://app' }) },
    tools: {
      change: tool({
        run: (_input, ctx) => {
          ctx.changed.resource('config://app');
          return 'changed';
        },
      }),
    },
  });
  expect(await inProcess(server)('tools/call', { name: 'change' })).toHaveProperty('content');
  expect(hasBegun).toBe(true);
});
