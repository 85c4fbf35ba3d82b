import { type Call, createServer, inProcess, McpError, type Outcome, ToolError, tool } from 'fullmcp';
import type { Client } from 'fullmcp/client';
import { policy } from 'fullmcp/middleware';
import { everyWire, testClient } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { able, waitForStatus } from '../../../support/tasks.js';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const city = z.object({ city: z.string() });

const tools = {
  forecast: tool({
    description: 'The weather',
    input: city,
    output: z.object({ sky: z.string() }),
    run: ({ city: name }) => ({ sky: `sunny in ${name}` }),
  }),
  plain: tool({ run: () => 42 }),
  fails: tool({
    run: () => {
      throw new ToolError('There is no coffee left.');
    },
  }),
  refuses: tool({
    run: () => {
      throw new McpError('invalid_params', 'Not like this');
    },
  }),
  breaks: tool({
    output: z.object({ sky: z.string() }),
    run: () => ({ sky: 5 }) as never,
  }),
  asks: tool({
    async run(_input, ctx) {
      const answer = await ctx.elicit('size', {
        message: 'Which size?',
        schema: z.object({ size: z.string() }),
      });
      const paid = await ctx.step('pay', () => 'paid');
      return `${answer.action === 'accept' ? answer.content.size : answer.action}, ${paid}`;
    },
  }),
  counts: tool({
    async run(_input, ctx) {
      for (let at = 1; at <= 3; at++) ctx.progress(at, 3);
      return 'counted';
    },
  }),
  headed: tool({
    input: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
      required: ['region'],
    },
    run: (input) => `in ${(input as { region: string }).region}`,
  }),
};

const newServer = () => createServer({ ...quiet, name: 's', search: true, tools });

interface Seen {
  readonly result: string;
  readonly progress: number[];
}

async function see(client: Pick<Client, 'callTool'>, name: string, args: object): Promise<Seen> {
  const progress: number[] = [];
  const onProgress = (update: { readonly progress: number }): void => void progress.push(update.progress);
  const result = await client.callTool(name, args, { onProgress }).then(
    (found) => ({ ...found }),
    (error: McpError) => ({ code: error.code, message: error.message }),
  );
  // The reference to a masked error is random.
  return { result: JSON.stringify(result).replaceAll(/ref [0-9a-f]+/g, 'ref'), progress };
}

describe('a call through call_tool', () => {
  it('is a call of the tool itself, over every transport and revision', async () => {
    const calls: [string, object][] = [
      ['forecast', { city: 'Rome' }],
      ['forecast', { town: 'Rome' }],
      ['forecast', {}],
      ['plain', {}],
      ['fails', {}],
      ['refuses', {}],
      ['breaks', {}],
      ['asks', {}],
      ['counts', {}],
      ['forcast', { city: 'Rome' }],
      ['search_tools', { query: 'weather' }],
    ];
    const elicit = () => ({ action: 'accept' as const, content: { size: 'large' } });
    await everyWire(
      newServer,
      async (client) => {
        for (const [name, args] of calls) {
          const direct = await see(client, name, args);
          expect(await see(client, 'call_tool', { name, arguments: args }), name).toEqual(direct);
        }
        expect((await client.callTool('call_tool', { name: 'asks' })).text).toBe('large, paid');
        const headed = { name: 'headed', arguments: { region: 'eu' } };
        expect((await client.callTool('call_tool', headed)).text).toBe('in eu');
      },
      { elicit },
    );
  });

  it('takes arguments that a model has written as a string', async () => {
    await using client = await testClient(newServer());
    const args = JSON.stringify({ city: 'Rome' });
    const { data } = await client.callTool('call_tool', { name: 'forecast', arguments: args });
    expect(data).toEqual({ sky: 'sunny in Rome' });
  });

  it('explains what is wrong with its own arguments', async () => {
    const call = inProcess(newServer());
    const text = async (args: object): Promise<string> => {
      const { content, isError } = await call('tools/call', { name: 'call_tool', arguments: args as never });
      expect(isError).toBe(true);
      return (content as { text: string }[])[0]?.text ?? '';
    };
    expect(await text({})).toMatch(/Invalid arguments for call_tool. .*name/);
    expect(await text({ name: 'forecast', args: {} })).toMatch(/Invalid arguments for call_tool/);
    expect(await text({ name: 'forecast', arguments: [] })).toMatch(/Invalid arguments for call_tool/);
    expect(await text({ name: 'x'.repeat(129) })).toMatch(/Invalid arguments for call_tool/);
    const itself = { name: 'call_tool', arguments: { name: 'plain' } };
    expect(await text(itself)).toBe('call_tool cannot call itself. Find a tool with search_tools.');
  });

  it('passes middleware, policies and idempotency keys under the name of the tool', async () => {
    const seen: unknown[] = [];
    let runs = 0;
    const server = createServer({
      ...quiet,
      name: 's',
      search: true,
      use: [
        (call: Call, next) => {
          if (call.method === 'tools/call') seen.push(call.params['name']);
          return next(call);
        },
      ],
      access: policy({ default: 'allow', rules: [{ effect: 'approve', tools: ['wipe'] }] }),
      tools: {
        pay: tool({ idempotency: true, run: () => `paid ${++runs}` }),
        wipe: tool({ run: () => 'wiped' }),
      },
    });
    const asked: string[] = [];
    await using client = await testClient(server, {
      elicit: ({ message }) => {
        asked.push(message);
        return { action: 'decline' };
      },
    });
    const idempotencyKey = 'k';
    const through = (name: string) => client.callTool('call_tool', { name }, { idempotencyKey });
    expect((await through('pay')).text).toBe('paid 1');
    expect((await through('pay')).text).toBe('paid 1');
    expect((await client.callTool('pay', {}, { idempotencyKey })).text).toBe('paid 1');
    expect((await through('wipe')).isError).toBe(true);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('wipe');
    expect(new Set(seen)).toEqual(new Set(['pay', 'wipe']));
  });

  it('becomes a task of the tool, whose result is that of the tool', async () => {
    const server = createServer({
      ...quiet,
      name: 's',
      search: true,
      tools: {
        dig: tool({ task: 'required', output: z.object({ gold: z.int() }), run: () => ({ gold: 3 }) }),
      },
    });
    await using _ = server;
    const call = inProcess(server, able);
    const { taskId } = await call('tools/call', { name: 'call_tool', arguments: { name: 'dig' } });
    const task = await waitForStatus(call, taskId, 'completed');
    expect(task).toMatchObject({ result: { structuredContent: { gold: 3 } } });
  });

  it('is challenged for the scopes that the tool needs', async () => {
    const server = createServer({
      ...quiet,
      name: 's',
      search: true,
      tools: { wipe: tool({ scopes: ['admin'], run: () => 'wiped' }) },
    });
    const call = inProcess(server, { caller: { subject: 'ada', scopes: [], claims: {} } });
    const through = call('tools/call', { name: 'call_tool', arguments: { name: 'wipe' } });
    await expect(through).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('works from inside another tool', async () => {
    const server = createServer({
      ...quiet,
      name: 's',
      search: true,
      tools: {
        ...tools,
        outer: tool({
          run: (_input, ctx) => ctx.call('call_tool', { name: 'forecast', arguments: { city: 'Oslo' } }),
        }),
      },
    });
    const outcome: Outcome = await inProcess(server)('tools/call', { name: 'outer' });
    expect(outcome['structuredContent']).toEqual({ sky: 'sunny in Oslo' });
  });
});
