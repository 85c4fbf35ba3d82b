import { createServer, inProcess, memoryStore, type Server, type Store, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { hostOf, textOf, toldIn } from '../../../support/fallbacks/host.js';
import { able } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

/** A tool that works until it is let go, and counts its runs. */
function work() {
  const runs: unknown[] = [];
  let free!: () => void;
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  const render = tool({
    description: 'Render a book',
    input: z.object({ pages: z.int() }),
    task: 'optional',
    run: async ({ pages }, { progress }) => {
      runs.push(pages);
      progress(1, 2, 'Page 1');
      await freed;
      return `${pages} pages`;
    },
  });
  return { runs, free, render };
}

const serverWith = (tools: object, more: object = {}): Server =>
  createServer({
    name: 'press',
    version: '1.0.0',
    tools: tools as Record<never, never>,
    fallbacks: { tasks: { after: 1 } },
    ...more,
  });

describe('a long tool for a client without tasks', () => {
  it('ends its call with the next action in words and data, and gives the result by continue_task', async () => {
    const { render, free } = work();
    const host = hostOf(serverWith({ render }), { name: 'unknown' });
    const first = await host.call('render', { pages: 3 });
    const { status, task, message } = toldIn(first);
    expect(status).toBe('working');
    expect(textOf(first)).toBe(message);
    expect(message).toContain(`Call continue_task with {"task":"${task}"}`);
    expect(first['isError']).toBeUndefined();
    free();
    expect(textOf(await host.call('continue_task', { task }))).toBe('3 pages');
  });

  it('runs a tool that needs tasks', async () => {
    const quick = tool({ task: 'required', run: () => 'done' });
    const host = hostOf(serverWith({ quick }, { fallbacks: { tasks: {} } }));
    expect(textOf(await host.call('quick'))).toBe('done');
  });

  it('answers a call that is fast enough as if there were no tasks', async () => {
    const quick = tool({ task: 'optional', output: z.object({ a: z.int() }), run: () => ({ a: 1 }) });
    const host = hostOf(serverWith({ quick }, { fallbacks: { tasks: {} } }));
    const outcome = await host.call('quick');
    expect(outcome).toMatchObject({ resultType: 'complete', structuredContent: { a: 1 } });
  });

  it('does not run twice when the model repeats the call, and runs again when the model has the result', async () => {
    const { render, free, runs } = work();
    const host = hostOf(serverWith({ render }));
    const [one, two] = await Promise.all([
      host.call('render', { pages: 1 }),
      host.call('render', { pages: 1 }),
    ]);
    const three = await host.call('render', { pages: 1 });
    expect(new Set([one, two, three].map((outcome) => toldIn(outcome).task)).size).toBe(1);
    expect(runs).toEqual([1]);
    free();
    expect(textOf(await host.call('continue_task', { task: toldIn(one).task }))).toBe('1 pages');
    await host.finish('render', { pages: 1 });
    expect(runs).toEqual([1, 1]);
  });

  it('gives a repeated call the result that the model has not had', async () => {
    const { render, free, runs } = work();
    const server = serverWith({ render });
    const host = hostOf(server);
    const { task } = toldIn(await host.call('render', { pages: 1 }));
    free();
    const able1 = inProcess(server, { ...able, caller: { subject: 'ada' } });
    await until(
      'the task has ended',
      async () => (await able1('tasks/get', { taskId: task }))['status'] === 'completed',
    );
    expect(textOf(await host.call('render', { pages: 1 }))).toBe('1 pages');
    expect(runs).toEqual([1]);
  });

  it('keeps apart the same call of two callers, and calls with other arguments', async () => {
    const { render, free, runs } = work();
    const server = serverWith({ render });
    const [ada, bob] = [hostOf(server), hostOf(server, { caller: 'bob' })];
    const { task } = toldIn(await ada.call('render', { pages: 1 }));
    expect(toldIn(await bob.call('render', { pages: 1 })).task).not.toBe(task);
    expect(toldIn(await ada.call('render', { pages: 2 })).task).not.toBe(task);
    expect(runs).toEqual([1, 1, 2]);
    for (const tried of [{ task }, { task, cancel: true }]) {
      const stolen = await bob.call('continue_task', tried);
      expect(stolen['isError']).toBe(true);
      expect(textOf(stolen)).toContain('There is no task');
    }
    free();
    expect(textOf(await ada.call('continue_task', { task }))).toBe('1 pages');
  });

  it('is cancelled by continue_task', async () => {
    let isAborted = false;
    const endless = tool({
      task: 'optional',
      run: (_input, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            isAborted = true;
            reject(new Error('aborted'));
          });
        }),
    });
    const host = hostOf(serverWith({ endless }));
    const { task } = toldIn(await host.call('endless'));
    expect(textOf(await host.call('continue_task', { task, cancel: true }))).toContain('was cancelled');
    await until('the handler has ended', () => isAborted);
  });

  it('reports progress to calls that want it, in the first call and in the next', async () => {
    const { render, free } = work();
    const server = serverWith({ render });
    const request = inProcess(server, { caller: { subject: 'ada' } });
    const reports: unknown[] = [];
    const onNotification = (_method: string, params?: object): void => void reports.push(params);
    const params = { name: 'render', arguments: { pages: 1 }, _meta: { progressToken: 'a' } };
    const { task } = toldIn(await request('tools/call', params));
    const next = { name: 'continue_task', arguments: { task }, _meta: { progressToken: 'b' } };
    const waiting = request('tools/call', next, { onNotification });
    await until('progress has come', () => reports.length > 0);
    free();
    await waiting;
    expect(reports).toEqual([{ progressToken: 'b', progress: 1, total: 2, message: 'Page 1' }]);
  });

  it('continues a tool that goes into the background', async () => {
    const later = tool({
      task: { support: 'required', start: 'on-background' },
      run: async (_input, ctx) => {
        await ctx.background();
        return ctx.step('late', () => 'late');
      },
    });
    expect((await hostOf(serverWith({ later })).finish('later', {})).text).toBe('late');
  });

  it('tells the model of a failure', async () => {
    const broken = tool({ task: 'optional', run: () => Promise.reject(new Error('secret')) });
    const { isError } = await hostOf(serverWith({ broken }, { fallbacks: { tasks: {} } })).call('broken');
    expect(isError).toBe(true);
  });

  it('is found by any process of the server, and its repeated call too', async () => {
    const store: Store = memoryStore();
    const { render, free, runs } = work();
    const [one, two] = [serverWith({ render }, { store }), serverWith({ render }, { store })];
    const first = toldIn(await hostOf(one).call('render', { pages: 1 }));
    expect(toldIn(await hostOf(two).call('render', { pages: 1 })).task).toBe(first.task);
    free();
    expect(textOf(await hostOf(two).call('continue_task', { task: first.task }))).toBe('1 pages');
    expect(runs).toEqual([1]);
  });
});

describe('the tools for such clients', () => {
  const names = async (server: Server, options: object): Promise<unknown[]> => {
    const { tools } = await inProcess(server, options)('tools/list');
    return (tools as { name: string }[]).map(({ name }) => name);
  };
  const quick = tool({ task: 'optional', output: z.object({ a: z.int() }), run: () => ({ a: 1 }) });

  it('are listed for a client that needs them alone, and called by nobody else', async () => {
    const server = serverWith({ quick }, { fallbacks: { tasks: {}, asking: 'model' } });
    expect(await names(server, {})).toEqual(['quick', 'continue_task', 'answer_question']);
    expect(await names(server, able)).toEqual(['quick']);
    await expect(inProcess(server, able)('tools/call', { name: 'continue_task' })).rejects.toThrow(
      'continue_task',
    );
    const onlyTasks = serverWith({ quick });
    expect(await names(onlyTasks, {})).toEqual(['quick', 'continue_task']);
  });

  it('are at the end of the last page', async () => {
    const server = serverWith({ a: quick, b: quick, c: quick }, { pageSize: 2 });
    const request = inProcess(server);
    const first = await request('tools/list');
    expect((first['tools'] as object[]).length).toBe(2);
    const { tools } = await request('tools/list', { cursor: first['nextCursor'] });
    expect((tools as { name: string }[]).map(({ name }) => name)).toEqual(['c', 'continue_task']);
  });

  it('widen the output schema of tools that may not be finished, so that clients accept both', async () => {
    const { tools } = await inProcess(serverWith({ quick }))('tools/list');
    const [{ outputSchema }] = tools as [{ outputSchema: { type: string; anyOf: { required: string[] }[] } }];
    expect(outputSchema.type).toBe('object');
    expect(outputSchema.anyOf.map(({ required }) => required)).toEqual([['a'], ['status', 'task']]);
  });

  it('are not the names of tools of the program', () => {
    expect(() => serverWith({ continue_task: quick })).toThrow('rename your tool');
  });

  it.each([
    [{ page: 'ask' }, 'fallbacks.page'],
    [{ asking: 'url' }, 'fallbacks.page'],
    [{ page: 'https://example.com/ask' }, 'fallbacks.asking'],
    [{ asking: 'maybe' }, 'fallbacks.asking'],
    [{ tasks: { after: -1 } }, 'after'],
    [{ hosts: { 'my-host': { calls: 1 } } }, 'calls'],
  ])('refuse the options %j', (fallbacks, names1) => {
    expect(() => serverWith({ quick }, { fallbacks })).toThrow(names1);
  });
});
