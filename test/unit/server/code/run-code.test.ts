import {
  createServer,
  jsonSchema,
  type Middleware,
  type Outcome,
  type ServerOptions,
  ToolError,
  tool,
} from 'fullmcp';
import { quickjs } from 'fullmcp/code';
import { policy } from 'fullmcp/middleware';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../../../src/client/model/client.js';
import { inProcessClient } from '../../../support/in-process-client.js';

interface Invoice {
  readonly id: string;
  readonly amount: number;
}

const invoice = {
  title: 'Invoice',
  type: 'object',
  properties: { id: { type: 'string' }, amount: { type: 'number' }, due: { type: 'string', format: 'date' } },
  required: ['id', 'amount'],
} as const;
const id = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;

/** A server with invoices, and what its tools have done. */
function billing(options: Partial<ServerOptions> = {}, clientOptions: object = {}) {
  const done: string[] = [];
  const tools = {
    list_invoices: tool({
      description: 'Lists invoices',
      annotations: { readOnly: true },
      input: jsonSchema({ type: 'object', properties: { status: { enum: ['open', 'paid'] } } }),
      output: jsonSchema({ type: 'array', items: invoice }),
      run: (): never =>
        [
          { id: 'a', amount: 20 },
          { id: 'b', amount: 2000 },
          { id: 'c', amount: 3000 },
        ] as never,
    }),
    remind: tool({
      description: 'Sends a reminder',
      annotations: { destructive: false },
      input: jsonSchema(id),
      run: (input) => {
        done.push(`remind ${(input as unknown as Invoice).id}`);
        return { sent: true };
      },
    }),
    cancel_invoice: tool({
      description: 'Cancels an invoice, if the user agrees',
      input: jsonSchema(id),
      async run(input, ctx) {
        const { sure } = (await ctx.ask('sure', {
          message: `Cancel ${(input as unknown as Invoice).id}?`,
          schema: jsonSchema({
            type: 'object',
            properties: { sure: { type: 'boolean' } },
            required: ['sure'],
          }),
        })) as { sure: boolean };
        if (!sure) throw new ToolError('not cancelled');
        done.push(`cancel ${(input as unknown as Invoice).id}`);
        return 'cancelled';
      },
    }),
    archive: tool({
      description: 'Archives everything',
      task: 'required',
      run: async (_, ctx) => {
        await ctx.step('archive', () => {
          done.push('archive');
          return 1;
        });
        return { archived: 3 };
      },
    }),
    secret_report: tool({ scopes: ['admin'], run: () => 'secret' }),
  };
  const server = createServer({
    name: 'billing',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    code: { engine: quickjs({ threads: 1 }), maxCalls: 20 },
    tools,
    ...options,
  } as ServerOptions);
  onTestFinished(() => server.close());
  const open = async (more: object = {}): Promise<Client> => {
    const client = await inProcessClient(server, { ...clientOptions, ...more });
    onTestFinished(() => client.close());
    return client;
  };
  return { server, done, open };
}

/** Runs a program, and returns what the model sees. */
async function run(client: Client, code: string): Promise<{ text: string; isError: boolean; data: unknown }> {
  const result = await client.callTool('run_code', { code });
  const text = result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  return { text, isError: result.isError === true, data: result.data };
}

const loop = `const open = await tools.list_invoices({ status: 'open' });
for (const i of open.filter((i) => i.amount > 1000)) await tools.remind({ id: i.id });
return { reminded: open.length };`;

describe('a server with code', () => {
  test('lists search_tools and run_code in place of all tools, which can still be called', async () => {
    const { open } = billing();
    const client = await open();
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['search_tools', 'run_code']);
    expect((await client.callTool('remind', { id: 'x' })).data).toEqual({ sent: true });
  });

  test('lists call_tool as well with search, and every tool with search: false', async () => {
    const names = async (search: boolean): Promise<string[]> =>
      (await (await billing({ search }).open()).tools().all()).map(({ name }) => name);
    expect(await names(true)).toEqual(['search_tools', 'call_tool', 'run_code']);
    expect(await names(false)).toContain('remind');
    expect(await names(false)).toContain('run_code');
    expect(await names(false)).not.toContain('search_tools');
  });

  test('finds tools as lines of TypeScript, and names types that occur twice', async () => {
    const { open } = billing();
    const client = await open();
    const { content } = await client.callTool('search_tools', { query: 'list invoices' });
    expect((content[0] as { text: string }).text.split('\n')[0]).toBe(
      'tools.list_invoices({ status?: "open" | "paid" }): { id: string; amount: number; due?: string /* date */ }[]; // Lists invoices',
    );
  });

  test('runs a program whose calls are those of a client', async () => {
    const seen: string[] = [];
    const audit: Middleware = async (call, next) => {
      const outcome = await next(call);
      seen.push(String(call.params['name'] ?? call.method));
      return outcome;
    };
    const { open, done } = billing({ use: [audit] });
    const { data } = await run(await open(), loop);
    expect(data).toEqual({ result: { reminded: 3 }, calls: 3 });
    expect(done).toEqual(['remind b', 'remind c']);
    const polled = seen.filter((name) => name !== 'tasks/get');
    expect(polled).toEqual(['server/discover', 'run_code', 'list_invoices', 'remind', 'remind']);
  });

  test('tells its calls to a client that asks for them, and to no other', async () => {
    const { server } = billing();
    const notified: unknown[] = [];
    const call = (meta: object): Promise<Outcome> =>
      server.dispatch({
        ...{ id: 1, method: 'tools/call' },
        params: { name: 'run_code', arguments: { code: loop }, _meta: { progressToken: 1, ...meta } },
        peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
        isLocal: true,
        signal: new AbortController().signal,
        notify: (_, params) => void notified.push(params),
      });
    expect(JSON.stringify(await call({}))).not.toContain('fullmcp/calls');
    expect(notified).toMatchObject([{ message: 'list_invoices' }, { progress: 2 }, { progress: 3 }]);
    expect(JSON.stringify(notified)).not.toContain('fullmcp/calls');

    const { _meta } = await call({ 'fullmcp/calls': true });
    const calls = [
      { seq: 1, tool: 'list_invoices', arguments: '{"status":"open"}', state: 'done', line: 1 },
      { seq: 2, tool: 'remind', arguments: '{"id":"b"}', line: 2, result: '{"sent":true}' },
      { seq: 3, tool: 'remind', arguments: '{"id":"c"}', line: 2 },
    ];
    expect(_meta).toMatchObject({ 'fullmcp/calls': calls });
    expect(notified.at(-1)).toMatchObject({ progress: 3, _meta: { 'fullmcp/calls': calls } });
  });

  test('gives back what the program has printed', async () => {
    const { open } = billing();
    expect((await run(await open(), `console.log('a', 1); return 2;`)).data).toEqual({
      result: 2,
      printed: 'a 1',
      calls: 0,
    });
  });

  test('refuses more calls than it allows, and says which were made', async () => {
    const { open, done } = billing();
    const { text, isError } = await run(
      await open(),
      `for (let i = 0; i < 100; i++) await tools.remind({ id: String(i) });`,
    );
    expect(isError).toBe(true);
    expect(text).toContain('more than 20 calls');
    expect(text).toContain('20. remind({"id":"19"}) succeeded');
    expect(done).toHaveLength(20);
  });

  test('names the line of a mistake, and what was expected', async () => {
    const { open } = billing();
    const { text } = await run(await open(), `const a = 1;\nawait tools.remind({ ID: a });`);
    expect(text).toContain('Line 2: ToolError: ');
    expect(text).toContain('id');
    expect(text).toContain('await tools.remind({ ID: a });');
  });

  test('refuses a program that returns while calls are running', async () => {
    const { open } = billing();
    const { text } = await run(await open(), `tools.list_invoices({}); return 1;`);
    expect(text).toContain('1 call was not awaited');
  });

  test('cuts off what is returned beyond its budget', async () => {
    const { open } = billing();
    const { data } = await run(await open(), `return 'x'.repeat(50000);`);
    expect(String((data as { result: string }).result)).toContain('cut off: the value has 50002 characters');
  });

  test('keeps programs from run_code itself', async () => {
    const { open } = billing();
    const { text } = await run(await open(), `await tools.run_code({ code: 'return 1' });`);
    expect(text).toContain('run_code cannot be called from a program');
  });

  test('lets programs search, too', async () => {
    const { open } = billing();
    const { data } = await run(await open(), `return tools.search_tools({ query: 'reminder' });`);
    expect((data as { result: string }).result).toContain('tools.remind({ id: string })');
  });
});

describe('the rules of a server hold inside of a program', () => {
  const code = `return tools.secret_report({});`;
  const as = (...scopes: string[]) => ({ caller: { subject: 'ada', scopes, claims: {} } });

  test('a tool that the caller may not use does not exist', async () => {
    const { open } = billing();
    const refused = await run(await open(as()), code);
    expect(refused.isError).toBe(true);
    expect((await run(await open(as('admin')), code)).data).toMatchObject({ result: 'secret' });
    const found = await (await open(as())).callTool('search_tools', { query: 'secret report' });
    expect(JSON.stringify(found.content)).not.toContain('secret_report');
  });

  test('a rule that has changed holds for the next program', async () => {
    let isOpen = true;
    const { open, done } = billing({
      access: { allow: (_auth, _input, { name }) => name !== 'remind' || isOpen },
    });
    const client = await open(as());
    const before = await run(client, `await tools.remind({ id: '1' }); return 1;`);
    expect(before.isError).toBe(false);
    isOpen = false;
    const { text } = await run(client, `await tools.remind({ id: '2' }); return 1;`);
    expect(text).toContain('ToolError');
    expect(done).toEqual(['remind 1']);
  });

  test('a policy asks a person inside of a program', async () => {
    const messages: string[] = [];
    const { open, done } = billing(
      { access: policy({ default: 'allow', rules: [{ effect: 'approve', tools: 'remind' }] }) },
      {
        elicit: ({ message }: { message: string }) => {
          messages.push(message);
          return { action: 'accept', content: { approve: true } };
        },
      },
    );
    const { data } = await run(await open(), loop);
    expect(data).toMatchObject({ result: { reminded: 3 } });
    expect(messages).toHaveLength(2);
    expect(done).toEqual(['remind b', 'remind c']);
  });
});

describe('a program that asks', () => {
  const answer = { elicit: () => ({ action: 'accept', content: { sure: true } }) };
  const code = `const before = [Date.now(), Math.random()];
const [, one, , two] = await Promise.all([
  tools.remind({ id: 'r' }), tools.cancel_invoice({ id: 'a' }), tools.list_invoices({}), tools.cancel_invoice({ id: 'b' }),
]);
await tools.remind({ id: one });
return [one, two, before[0] === new Date(before[0]).getTime()];`;

  test('continues with the answer, and repeats no call', async () => {
    const { open, done } = billing({}, answer);
    const { data } = await run(await open(), code);
    expect(data).toEqual({ result: ['cancelled', 'cancelled', true], calls: 5 });
    expect(done.toSorted()).toEqual(['cancel a', 'cancel b', 'remind cancelled', 'remind r']);
  });

  test('and is told if the user says no', async () => {
    const { open } = billing({}, { elicit: () => ({ action: 'decline' }) });
    const { text } = await run(await open(), `await tools.cancel_invoice({ id: 'a' });`);
    expect(text).toContain('The user declined');
  });

  test('waits for a tool that is a task', async () => {
    const { open, done } = billing();
    const { data } = await run(await open(), `return tools.archive({});`);
    expect(data).toMatchObject({ result: { archived: 3 } });
    expect(done).toEqual(['archive']);
  });

  test('may be a task itself', async () => {
    const { open, done } = billing({}, answer);
    const client = await open();
    const task = await client.startTool('run_code', { code });
    const result = await task.result();
    expect(result.data).toMatchObject({ result: ['cancelled', 'cancelled', true] });
    expect(done.toSorted()).toEqual(['cancel a', 'cancel b', 'remind cancelled', 'remind r']);
  });
});
