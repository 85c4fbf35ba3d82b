import { createServer, jsonSchema, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { quickjs } from 'fullmcp/code';
import { serve } from 'fullmcp/node';
import { toTools } from 'fullmcp/tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CodeOptions } from '../../../../src/protocol/code/code-options.js';

const id = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;
const idOf = (input: unknown): string => (input as { id: string }).id;

/** A client of two servers, one of which is reached over HTTP with a token, and code mode for it. */
async function office(options: Partial<CodeOptions> = {}, clientOptions: object = {}) {
  const done: string[] = [];
  const keys: unknown[] = [];
  const billing = createServer({
    name: 'billing',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    use: [
      (call, next) => {
        const meta = call.params['_meta'] as Record<string, unknown> | undefined;
        if (call.method === 'tools/call') keys.push(meta?.['fullmcp/idempotencyKey']);
        return next(call);
      },
    ],
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
        run(input) {
          done.push(`cancel ${idOf(input)}`);
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
  const serving = await serve(billing, {
    port: 0,
    signals: false,
    auth: ({ headers }) => (headers['authorization'] === 'Bearer pass' ? { subject: 'host' } : undefined),
  });
  onTestFinished(() => serving.close());
  const waiting: AbortSignal[] = [];
  const files = createServer({
    name: 'files',
    version: '1.0.0',
    logger: () => undefined,
    tools: {
      write: tool({
        description: 'Writes a file',
        annotations: { destructive: false },
        input: jsonSchema(id),
        run: (input) => void done.push(`write ${idOf(input)}`),
      }),
      wait: tool({
        annotations: { readOnly: true },
        run: (_, { signal }) =>
          new Promise<string>((_resolve, reject) => {
            waiting.push(signal);
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
      }),
    },
  });
  const questions: string[] = [];
  const client = await connect(
    {
      mcpServers: {
        billing: { url: serving.url, headers: { authorization: 'Bearer pass' } },
        files: { target: files },
      },
    },
    {
      elicit: ({ message }: { message: string }) => {
        questions.push(message);
        return { action: 'accept', content: { approve: true, word: 'yes' } };
      },
      ...clientOptions,
    } as never,
  );
  onTestFinished(() => client.close());
  const code = await client.code({ engine: quickjs({ threads: 1 }), ...options });
  return { client, code, done, keys, questions, waiting };
}

describe('code mode of a client', () => {
  test('gives a model two tools in place of those of all servers, and runs programs that call them', async () => {
    const { code, done, keys } = await office();
    expect(code.tools.map(({ name }) => name)).toEqual(['search_tools', 'run_code']);
    const { data, isError } = await code.run(`const all = await tools.billing_list_invoices({});
await Promise.all(all.map((one) => tools.files_write({ id: one.id })));
return { written: all.length };`);
    expect(isError).toBe(false);
    expect(data).toEqual({ result: { written: 2 }, calls: 3 });
    expect(done.sort()).toEqual(['write a', 'write b']);
    expect(keys).toEqual([expect.stringMatching(/./)]);
  });

  test('finds tools as lines of TypeScript, outside and inside of programs', async () => {
    const { code } = await office();
    const line = 'tools.billing_list_invoices(): { id: string }[]; // Lists invoices';
    expect(await code.search('list invoices', { limit: 1 })).toBe(line);
    expect((await code.call('search_tools', { query: 'list invoices', limit: 1 })).text).toBe(line);
    expect((await code.call('search_tools', {})).isError).toBe(true);
    const inside = await code.run(`return tools.search_tools({ query: 'list invoices', limit: 1 });`);
    expect(inside.data).toEqual({ result: line, calls: 1 });
  });

  test('answers the questions of tools with the handlers of the client, and waits for tasks', async () => {
    const { code, questions } = await office();
    const { data } = await code.run(`const { word } = await tools.billing_confirm({});
return { word, ...(await tools.billing_archive({})) };`);
    expect(data).toEqual({ result: { word: 'yes', archived: 3 }, calls: 2 });
    expect(questions).toEqual(['Which word?']);
  });

  test('asks the user of the client about all changes that can be foreseen at once, before any is made', async () => {
    const { code, done, questions } = await office({ approve: 'destructive' });
    const { data } = await code.run(`const all = await tools.billing_list_invoices({});
for (const { id } of all) await tools.billing_cancel_invoice({ id });
return all.length;`);
    expect(data).toEqual({ result: 2, calls: 3 });
    expect(done).toEqual(['cancel a', 'cancel b']);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain('2. billing_cancel_invoice({"id": "a"})');
    expect(questions[0]).toContain('3. billing_cancel_invoice({"id": "b"})');
  });

  test('makes no change that the user refuses, or that nobody can be asked about', async () => {
    const refusing = { elicit: () => ({ action: 'accept', content: { approve: false } }) };
    for (const handlers of [refusing, { elicit: undefined }]) {
      const { code, done } = await office({ approve: 'all' }, handlers);
      const { text, isError } = await code.run(`await tools.billing_cancel_invoice({ id: 'a' });`);
      expect(isError).toBe(true);
      expect(text).toMatch(/did not approve|elicitation|cannot/);
      expect(done).toEqual([]);
    }
  });

  test('says which line has failed, and which calls were made', async () => {
    const { code } = await office({ maxCalls: 2 });
    const failed = await code.run(`await tools.files_write({ id: 'a' });\nawait tools.files_write({});`);
    expect(failed.isError).toBe(true);
    expect(failed.text).toContain('Line 2: ToolError');
    expect(failed.text).toContain('1. files_write({"id":"a"}) succeeded');
    const many = await code.run(`for (;;) await tools.files_write({ id: 'b' });`);
    expect(many.text).toContain('The program made more than 2 calls');
    const unknown = await code.run(`await tools.run_code({ code: '' });`);
    expect(unknown.text).toContain('run_code cannot be called from a program');
    await expect(code.call('files_write', { id: 'c' })).rejects.toThrow('Unknown tool: files_write');
  });

  test('ends the calls of a program that is cancelled', async () => {
    const { code, done, waiting } = await office();
    const stop = new AbortController();
    const running = code.run(
      `try { await tools.files_wait({}); } catch {}\nawait tools.files_write({ id: 'a' });`,
      {
        signal: stop.signal,
      },
    );
    await expect.poll(() => waiting.length).toBe(1);
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
    await expect.poll(() => waiting[0]?.aborted).toBe(true);
    const { data } = await code.run('return 1;');
    expect(data).toEqual({ result: 1, calls: 0 });
    expect(done).toEqual([]);
  });

  test('gives its tools to the API of a model, and makes the calls of the model', async () => {
    const { code } = await office();
    const { tools, run } = await toTools(code, 'anthropic');
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'run_code']);
    const use = { type: 'tool_use', id: 'u1', name: 'run_code', input: { code: 'return 6 * 7;' } } as const;
    expect(JSON.stringify(await run(use))).toContain('42');
  });

  test('is about the server of a client of one, and about servers that are added later', async () => {
    const late = createServer({
      name: 'late',
      version: '1',
      logger: () => undefined,
      tools: { ping: tool({ run: () => 'pong' }) },
    });
    const one = await connect(late);
    onTestFinished(() => one.close());
    const code = await one.code({ engine: quickjs({ threads: 1 }) });
    expect((await code.run('return tools.ping({});')).data).toEqual({ result: 'pong', calls: 1 });
    const { client, code: ofGroup } = await office({ approve: 'all' });
    expect(await ofGroup.search('ping')).toContain('No tool was found');
    (client as unknown as { add: (name: string, entry: object) => void }).add('late', { target: late });
    expect((await ofGroup.run('return tools.late_ping({});')).data).toEqual({ result: 'pong', calls: 1 });
  });

  test('ends with its client, and needs an engine', async () => {
    const { client, code } = await office();
    await client.close();
    await expect(code.run('return 1;')).rejects.toMatchObject({ code: 'connection_closed' });
    await expect(client.code({} as never)).rejects.toThrow('client.code needs an engine');
    const { client: other } = await office();
    await expect(other.code({ engine: quickjs(), maxCals: 1 } as never)).rejects.toThrow('maxCals');
  });
});
