import { createServer, inProcess, memoryStore, resource, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { modernExchange } from '../../../support/http/modern.js';
import { signal } from '../../../support/signal.js';
import { able, accept, readStoredTask, quiet as settle, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

const quiet = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const bob = { subject: 'bob', scopes: ['work'] };
const less = { subject: 'bob', scopes: [] as string[] };

/** A server whose task asks a question, and whose tool has these rules. */
function working(
  rules: object,
  { store = memoryStore(), gate = Promise.resolve() as Promise<unknown> } = {},
) {
  return createServer({
    ...quiet,
    store,
    tools: {
      work: tool({
        task: 'required',
        ...rules,
        run: async (_, ctx) => {
          const { n } = await ctx.ask('n', { message: 'How many?', schema: z.object({ n: z.number() }) });
          await gate;
          return `${n} secrets`;
        },
      }),
    },
  });
}

const as = (server: { readonly dispatch: never } | object, caller?: object) =>
  inProcess(server as never, { ...able, ...(caller && { caller: caller as never }) });

describe('a task of a tool with scopes', () => {
  it('is created only for callers that have them', async () => {
    const server = working({ scopes: ['work'] });
    expect(await as(server, bob)('tools/call', { name: 'work' })).toMatchObject({ resultType: 'task' });
    await expect(as(server, less)('tools/call', { name: 'work' })).rejects.toMatchObject({
      code: 'forbidden',
      data: { scopes: ['work'] },
    });
    await server.close();
  });

  it('cannot be read, answered, cancelled or watched with a token of its caller that lacks them', async () => {
    const server = working({ scopes: ['work'] });
    const { taskId } = await as(server, bob)('tools/call', { name: 'work' });
    await waitForStatus(as(server, bob), taskId, 'input_required');
    const weak = as(server, less);
    for (const [method, params] of [
      ['tasks/get', { taskId }],
      ['tasks/update', { taskId, inputResponses: { n: accept({ n: 7 }) } }],
      ['tasks/cancel', { taskId }],
    ] as const)
      await expect(weak(method, params)).rejects.toMatchObject({
        code: 'forbidden',
        data: { scopes: ['work'] },
      });
    let granted: unknown;
    await weak(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId] } },
      { onNotification: (_, params) => (granted ??= params?.['notifications']) },
    );
    expect(granted).toEqual({});
    await as(server, bob)('tasks/update', { taskId, inputResponses: { n: accept({ n: 7 }) } });
    expect(await waitForStatus(as(server, bob), taskId, 'completed')).toMatchObject({ result: {} });
    // The result of a finished task is as protected as the tool.
    await expect(weak('tasks/get', { taskId })).rejects.toMatchObject({ code: 'forbidden' });
    await server.close();
  });
});

describe('a task of a tool that `allow` refuses by now', () => {
  it('is as unknown as one that never existed', async () => {
    let isAllowed = true;
    const server = working({ allow: async () => isAllowed });
    const call = as(server, bob);
    const { taskId } = await call('tools/call', { name: 'work' });
    await waitForStatus(call, taskId, 'input_required');
    isAllowed = false;
    const unknown = crypto.randomUUID();
    for (const [method, params] of [
      ['tasks/get', {}],
      ['tasks/update', { inputResponses: { n: accept({ n: 7 }) } }],
      ['tasks/cancel', {}],
    ] as const) {
      const hidden = await call(method, { ...params, taskId }).catch((error) => error);
      const missing = await call(method, { ...params, taskId: unknown }).catch((error) => error);
      expect(hidden.code).toBe(missing.code);
      expect(hidden.message.replace(String(taskId), '')).toBe(missing.message.replace(unknown, ''));
    }
    isAllowed = true;
    expect(await call('tasks/get', { taskId })).toMatchObject({ status: 'input_required' });
    await server.close();
  });

  it('is not reported to a caller that watches it', async () => {
    let isAllowed = true;
    const finishing = signal();
    const store = memoryStore();
    const server = working({ allow: () => isAllowed }, { store, gate: finishing.promise });
    const call = as(server, bob);
    const { taskId } = await call('tools/call', { name: 'work' });
    await waitForStatus(call, taskId, 'input_required');
    const seen: unknown[] = [];
    const ending = new AbortController();
    const watching = call(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId] } },
      {
        signal: ending.signal,
        onNotification: (method, params) => void seen.push([method, params?.['status']]),
      },
    );
    await until('the watch is granted', () => seen.length === 1);
    await call('tasks/update', { taskId, inputResponses: { n: accept({ n: 7 }) } });
    await until('the task is reported', () => seen.length > 1);
    await settle();
    isAllowed = false;
    const before = seen.length;
    finishing.give();
    await until(
      'the task has ended',
      async () => (await readStoredTask(store, taskId))?.status === 'completed',
    );
    await settle();
    expect(seen.slice(before)).toEqual([]);
    ending.abort();
    await watching;
    await server.close();
  });

  it('does not continue after a restart', async () => {
    const store = memoryStore();
    const first = working({}, { store });
    const { taskId } = await as(first, bob)('tools/call', { name: 'work' });
    await waitForStatus(as(first, bob), taskId, 'input_required');
    await first.drain();
    const ran: string[] = [];
    const second = createServer({
      ...quiet,
      store,
      tools: {
        work: tool({
          task: 'required',
          // The caller may look at the task, but its arguments are refused now.
          allow: (_, input) => input === undefined,
          run: () => void ran.push('ran'),
        }),
      },
    });
    await second.start();
    await as(second, bob)('tasks/update', { taskId, inputResponses: { n: accept({ n: 7 }) } });
    expect(await waitForStatus(as(second, bob), taskId, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('Unknown tool') },
    });
    expect(ran).toEqual([]);
    await second.close();
  });
});

describe('a task of an anonymous caller over HTTP', () => {
  it('is not trusted as a local one is: its inner calls obey the rules, also after a restart', async () => {
    const store = memoryStore();
    const make = (seen: string[]) =>
      createServer({
        ...quiet,
        store,
        tools: {
          admin: tool({ scopes: ['admin'], run: () => 'the secret' }),
          work: tool({
            task: 'required',
            run: async (_, ctx) => {
              const inner = ctx.call('admin').then(
                () => 'served',
                (error) => error.code,
              );
              const read = ctx.read('doc://secret').then(
                () => 'served',
                (error) => error.code,
              );
              seen.push(await inner, await read);
              await ctx.ask('n', { message: 'How many?', schema: z.object({ n: z.number() }) });
              return 'done';
            },
          }),
        },
        resources: {
          'doc://secret': resource({ allow: (auth) => auth !== undefined, read: () => 'secret' }),
        },
      });
    const seen: string[] = [];
    const first = make(seen);
    const handle = createHandler(first);
    const { headers, body } = modernExchange(
      'tools/call',
      { name: 'work' },
      { meta: { 'io.modelcontextprotocol/clientCapabilities': able.capabilities } },
    );
    const response = await handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: body as string,
      }),
    );
    const { taskId } = ((await response.json()) as { result: { taskId: string } }).result;
    await until('the task has asked', () => seen.length === 2);
    await waitForStatus(as(first), taskId, 'input_required');
    await first.drain();
    const again: string[] = [];
    const second = make(again);
    await second.start();
    await as(second)('tasks/update', { taskId, inputResponses: { n: accept({ n: 1 }) } });
    await waitForStatus(as(second), taskId, 'completed');
    expect([seen, again]).toEqual([
      ['unauthorized', 'resource_not_found'],
      ['unauthorized', 'resource_not_found'],
    ]);
    await first.close();
    await second.close();
  });

  it('and one of a local caller is trusted after a restart, too', async () => {
    const store = memoryStore();
    const make = () =>
      createServer({
        ...quiet,
        store,
        tools: {
          admin: tool({ scopes: ['admin'], run: () => 'the secret' }),
          work: tool({
            task: 'required',
            run: async (_, ctx) => {
              await ctx.ask('n', { message: 'How many?', schema: z.object({ n: z.number() }) });
              return (await ctx.call('admin')).content;
            },
          }),
        },
      });
    const first = make();
    const { taskId } = await as(first)('tools/call', { name: 'work' });
    await waitForStatus(as(first), taskId, 'input_required');
    await first.drain();
    const second = make();
    await second.start();
    await as(second)('tasks/update', { taskId, inputResponses: { n: accept({ n: 1 }) } });
    const { result } = await waitForStatus(as(second), taskId, 'completed');
    expect(JSON.stringify(result)).toContain('the secret');
    await first.close();
    await second.close();
  });
});
