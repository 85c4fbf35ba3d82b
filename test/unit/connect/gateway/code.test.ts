import { createServer, jsonSchema, type Middleware, memoryBus, memoryStore, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { quickjs } from 'fullmcp/code';
import { type GatewayOptions, gateway } from 'fullmcp/gateway';
import { memoryEventLog } from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../../../src/client/model/client.js';
import type { CoreServer } from '../../../../src/server/build/core-server.js';
import { serverWith } from './gateway-servers.js';

const id = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;
const idOf = (input: unknown): string => (input as { id: string }).id;

/** A gateway, served over HTTP, to one server over HTTP with a token of its own and to one in this process. */
async function hub(options: Partial<GatewayOptions> = {}) {
  const done: string[] = [];
  const tokens = new Set<unknown>();
  const billing = createServer({
    name: 'billing',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    tools: {
      list_invoices: tool({
        description: 'Lists invoices',
        annotations: { readOnly: true },
        output: jsonSchema({ type: 'array', items: id }),
        run: (): never => [{ id: 'a' }, { id: 'b' }] as never,
      }),
      cancel_invoice: tool({
        description: 'Cancels an invoice',
        input: jsonSchema(id),
        run(input, ctx) {
          done.push(`${ctx.auth?.subject}: cancel ${idOf(input)}`);
          return { cancelled: idOf(input) };
        },
      }),
      confirm: tool({
        annotations: { destructive: false },
        async run(_, ctx) {
          const schema = jsonSchema({ type: 'object', properties: { word: { type: 'string' } } });
          const { word } = (await ctx.ask('word', { message: 'Which word?', schema })) as { word: string };
          return { word };
        },
      }),
      archive: tool({
        task: 'required',
        annotations: { destructive: false },
        run: (_, ctx) => ctx.step('archive', () => ({ archived: 3 })),
      }),
    },
  });
  onTestFinished(() => billing.close());
  const upstream = await serve(billing, {
    port: 0,
    signals: false,
    auth({ headers }) {
      tokens.add(headers['authorization']);
      return headers['authorization'] === 'Bearer upstream' ? { subject: 'the gateway' } : undefined;
    },
  });
  onTestFinished(() => upstream.close());
  const files = serverWith({
    tools: {
      write: tool({
        description: 'Writes a file',
        annotations: { destructive: false },
        input: jsonSchema(id),
        run: (input) => {
          done.push(`write ${idOf(input)}`);
          return 'written';
        },
      }),
    },
  });
  const log: string[] = [];
  const made = gateway(
    {
      mcpServers: {
        billing: { url: upstream.url, headers: { authorization: 'Bearer upstream' } },
        files: { target: files },
      },
    } as never,
    {
      logger: (_level, message) => log.push(message),
      code: { engine: quickjs({ threads: 1 }), maxCalls: 20 },
      ...options,
    },
  );
  const serving = await serve(made, {
    port: 0,
    signals: false,
    auth: ({ headers }) => ({ subject: String(headers['authorization']).replace('Bearer ', '') }),
  });
  onTestFinished(() => serving.close());
  const questions: string[] = [];
  const open = async (user = 'ada', more: object = {}): Promise<Client> => {
    const client = await connect(serving.url, {
      headers: { authorization: `Bearer ${user}` },
      elicit: ({ message }: { message: string }) => {
        questions.push(message);
        return { action: 'accept', content: { approve: true, word: 'yes' } };
      },
      ...more,
    } as never);
    onTestFinished(() => client.close());
    return client;
  };
  return { open, done, tokens, questions, log, made };
}

async function run(client: Client, code: string) {
  return client.callTool('run_code', { code });
}

const names = async (client: Client): Promise<readonly string[]> =>
  (await client.tools().all()).map(({ name }) => name);

describe('a gateway with code', () => {
  test('lists search_tools and run_code, whose programs call the servers as the gateway does', async () => {
    const { open, done, tokens } = await hub();
    const client = await open();
    expect(await names(client)).toEqual(['search_tools', 'run_code']);
    const found = await client.callTool('search_tools', { query: 'list invoices', limit: 1 });
    const line = 'tools.billing_list_invoices(): { id: string }[]; // Lists invoices';
    expect(found.text).toBe(line);
    const { data } = await run(
      client,
      `const all = await tools.billing_list_invoices({});
await tools.files_write({ id: all[0].id });
for (const { id } of all) await tools.billing_cancel_invoice({ id });
return tools.search_tools({ query: 'list invoices', limit: 1 });`,
    );
    expect(data).toEqual({ result: line, calls: 5 });
    expect(done).toEqual(['write a', 'the gateway: cancel a', 'the gateway: cancel b']);
    expect([...tokens]).toEqual(['Bearer upstream']);
  });

  test.each([
    { search: true, list: ['run_code', 'search_tools', 'call_tool'] },
    { search: undefined, list: ['run_code', 'search_tools'] },
  ])('lists with search: $search', async ({ search, list }) => {
    const { open } = await hub(search === undefined ? {} : { search });
    expect([...(await names(await open()))].sort()).toEqual([...list].sort());
  });

  test('lists all tools beside run_code with search: false', async () => {
    const { open } = await hub({ search: false });
    const client = await open();
    expect(await names(client)).toEqual([
      'billing_list_invoices',
      'billing_cancel_invoice',
      'billing_confirm',
      'billing_archive',
      'files_write',
      'run_code',
    ]);
    expect((await client.callTool('files_write', { id: 'x' })).text).toBe('written');
  });

  test('applies the rule and the middleware of the gateway to each call of a program, with its caller', async () => {
    const seen: string[] = [];
    const audit: Middleware = (call, next) => {
      if (call.method === 'tools/call') seen.push(`${call.auth?.subject}: ${String(call.params['name'])}`);
      return next(call);
    };
    const hidden = new Set<string>();
    const { open, done } = await hub({
      use: [audit],
      allow: ({ name }, caller) =>
        caller?.subject === 'root' || (!name.startsWith('cancel') && !hidden.has(name)),
    });
    const client = await open('ada');
    expect((await client.callTool('search_tools', { query: 'cancel an invoice' })).text).not.toContain(
      'cancel_',
    );
    const program = `await tools.billing_cancel_invoice({ id: 'a' });`;
    const refused = await run(client, program);
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('Line 1: ToolError');
    expect(done).toEqual([]);
    expect((await run(await open('root'), program)).isError).toBe(false);
    expect(done).toEqual(['the gateway: cancel a']);
    hidden.add('write');
    expect((await run(client, `await tools.files_write({ id: 'b' });`)).isError).toBe(true);
    expect(seen).toContain('ada: billing_cancel_invoice');
    expect(seen).toContain('root: billing_cancel_invoice');
    expect(done).toHaveLength(1);
  });

  test.each(['2026-07-28', '2025-11-25'])(
    'asks the questions of a server through a client of %s',
    async (revision) => {
      const { open, questions } = await hub();
      const client = await open('ada', { revision });
      const { data } = await run(
        client,
        `const { word } = await tools.billing_confirm({});
return { word, ...(await tools.billing_archive({})) };`,
      );
      expect(data).toEqual({ result: { word: 'yes', archived: 3 }, calls: 2 });
      expect(questions).toEqual(['Which word?']);
    },
  );

  test('runs a program as a task, and gives it to nobody else', async () => {
    const { open } = await hub();
    const client = await open();
    const handle = await client.startTool('run_code', {
      code: `const { word } = await tools.billing_confirm({});\nreturn word;`,
    });
    expect(handle.id).toMatch(/./);
    const other = await open('eve');
    await expect(other.request('tasks/get', { taskId: handle.id as string })).rejects.toThrow();
    expect((await handle.result()).data).toEqual({ result: 'yes', calls: 1 });
  });

  test('continues a program of a gateway that has ended in another one on the same engine', async () => {
    const store = { ...memoryStore(), close: async () => {} };
    const parts = { store, bus: memoryBus(), eventLog: memoryEventLog() };
    const engine = { ...parts, start: async () => [], ping: async () => {}, close: async () => {} };
    const done: string[] = [];
    const files = serverWith({
      tools: {
        write: tool({ input: jsonSchema(id), run: (input) => ({ count: done.push(idOf(input)) }) }),
        confirm: tool({
          async run(_, ctx) {
            const schema = jsonSchema({ type: 'object', properties: { word: { type: 'string' } } });
            return await ctx.ask('word', { message: 'Which word?', schema });
          },
        }),
      },
    });
    const started = async () => {
      const made = gateway(
        { mcpServers: { files: { target: files } } },
        { logger: () => undefined, code: { engine: quickjs({ threads: 1 }) } },
      );
      onTestFinished(() => made.close());
      const provided = made as unknown as Pick<CoreServer, 'provideSecret' | 'provideCluster'>;
      provided.provideSecret('x'.repeat(32));
      provided.provideCluster(engine);
      await made.start();
      const client = await connect(made, {
        elicit: () => ({ action: 'accept', content: { word: 'yes' } }),
      });
      onTestFinished(() => client.close());
      return { made, client };
    };
    const first = await started();
    const { id: taskId } = await first.client.startTool('run_code', {
      code: `const { count } = await tools.files_write({ id: 'a' });
const { word } = await tools.files_confirm({});
await tools.files_write({ id: 'b' });
return { count, word };`,
    });
    const task = () => first.client.request('tasks/get', { taskId: taskId as string });
    await expect.poll(async () => (await task())['status']).toBe('input_required');
    await first.made.close();
    const second = await started();
    const result = await second.client.task(taskId as string).result();
    expect(result.data).toEqual({ result: { count: 1, word: 'yes' }, calls: 3 });
    expect(done).toEqual(['a', 'b']);
  });

  test('asks about the changes of a program before any is made', async () => {
    const { open, done, questions } = await hub({
      code: { engine: quickjs({ threads: 1 }), approve: 'destructive' },
    });
    const { data } = await run(
      await open(),
      `const all = await tools.billing_list_invoices({});
await tools.search_tools({ query: 'x' });
await tools.files_write({ id: 'c' });
for (const { id } of all) await tools.billing_cancel_invoice({ id });
return all.length;`,
    );
    expect(data).toEqual({ result: 2, calls: 5 });
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain('2 × billing_cancel_invoice');
    expect(done).toEqual(['write c', 'the gateway: cancel a', 'the gateway: cancel b']);
  });

  test('gives programs the handles of other servers, which they can pass on', async () => {
    const rows = serverWith({
      tools: {
        find: tool({ handle: true, run: () => ({ rows: [1, 2, 3] }) }),
        sum: tool({
          input: jsonSchema({ type: 'object', properties: { of: { type: 'array' } }, required: ['of'] }),
          run: (input) => ({ sum: (input as { of: number[] }).of.reduce((one, other) => one + other, 0) }),
        }),
      },
    });
    const made = gateway(
      { mcpServers: { rows: { target: rows } } },
      { logger: () => undefined, code: { engine: quickjs({ threads: 1 }) } },
    );
    onTestFinished(() => made.close());
    const client = await connect(made);
    onTestFinished(() => client.close());
    const { data } = await run(
      client,
      `const { handle } = await tools.rows_find({});
return tools.rows_sum({ of: handle + '/rows' });`,
    );
    expect(data).toEqual({ result: { sum: 6 }, calls: 2 });
  });

  test('keeps its own tools out of programs, and reports a wrong option when it is made', async () => {
    const { open } = await hub({ search: true });
    const client = await open();
    for (const name of ['run_code', 'call_tool'])
      expect((await run(client, `await tools.${name}({ name: 'files_write' });`)).text).toContain(
        `${name} cannot be called from a program`,
      );
    const limited = await run(client, `for (;;) await tools.files_write({ id: 'a' });`);
    expect(limited.text).toContain('The program made more than 20 calls');
    expect(() => gateway({ mcpServers: {} }, { code: {} as never })).toThrow('engine');
  });
});
