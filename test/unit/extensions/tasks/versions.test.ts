import { type Context, createServer, inProcess, type Store, type Tool, tool } from 'fullmcp';
import { versions } from 'fullmcp/transform';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { able, accept, lastingStore, mortalStore, quiet, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

// Tasks that wait while their tool is deployed in another version.

const input = z.object({ order: z.string() });
const sure = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) };

/** A tool that charges, asks, and ships. `log` gets what it did. */
function ordering(version: string, log: string[], more: object = {}): Tool {
  return tool({
    input,
    task: { support: 'required', ...more },
    run: async ({ order }, ctx: Context) => {
      const charged = await ctx.step(`charge ${version}`, (step) => {
        log.push(`${version} charges ${order}`);
        return step.idempotencyKey.split(':').pop() as string;
      });
      await ctx.ask('sure', sure);
      await ctx.step('ship', () => log.push(`${version} ships ${order}`));
      return `${version} ${charged}`;
    },
  }) as Tool;
}

function process(store: Store, order: Tool | undefined) {
  const logged: string[] = [];
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: (_, message) => void logged.push(message),
    store,
    tasks: { leaseMs: 600 },
    tools: { ...(order && { order }), other: tool({ task: 'optional', run: () => 'other' }) },
  });
  return { server, call: inProcess(server, able), logged };
}

/** Begins a task that waits for its answer, in a process that has ended. */
async function begin(lasting: ReturnType<typeof lastingStore>, order: Tool): Promise<unknown> {
  const first = process(lasting.store, order);
  const { taskId } = await first.call('tools/call', { name: 'order', arguments: { order: 'A' } });
  await waitForStatus(first.call, taskId, 'input_required');
  await first.server.close();
  return taskId;
}

const answer = { sure: accept({ ok: true }) };

describe('a task of a tool with versions', () => {
  it('ends in the version that began it, although callers get another one by now', async () => {
    const lasting = lastingStore();
    const log: string[] = [];
    const both = (current: '1.0' | '2.0') =>
      versions({ '1.0': ordering('1.0', log), '2.0': ordering('2.0', log) }, { current });
    const taskId = await begin(lasting, both('1.0'));
    const { server, call } = process(lasting.store, both('2.0'));
    await call('tasks/update', { taskId, inputResponses: answer });
    const task = await waitForStatus(call, taskId, 'completed');
    expect(task).toMatchObject({ result: { content: [{ text: '1.0 charge 1.0' }] } });
    expect(log).toEqual(['1.0 charges A', '1.0 ships A']);
    await server.close();
  });

  it('fails at once with a sentence and without an effect if its version is gone, and no process has it', async () => {
    const lasting = lastingStore();
    const log: string[] = [];
    const taskId = await begin(lasting, versions({ '1.0': ordering('1.0', log) }));
    for (const next of [versions({ '2.0': ordering('2.0', log) }), ordering('none', log)]) {
      const copy = lastingStore(lasting.store);
      const { server, call, logged } = process(copy.store, next);
      await call('tasks/update', { taskId, inputResponses: answer });
      const task = await waitForStatus(call, taskId, 'failed');
      expect(task).toMatchObject({
        error: {
          message: expect.stringContaining('The version 1.0 of the tool "order", which began this task'),
        },
      });
      expect(log).toEqual(['1.0 charges A']);
      expect(logged).toEqual([]);
      await server.close();
    }
  });

  it('is left to a process that has its version, for as long as one is alive', async () => {
    const lasting = lastingStore();
    const log: string[] = [];
    const old = versions({ '1.0': ordering('1.0', log) });
    const first = process(lasting.store, old);
    const { taskId } = await first.call('tools/call', { name: 'order', arguments: { order: 'A' } });
    await waitForStatus(first.call, taskId, 'input_required');
    await first.server.drain();
    // Three processes of the next release, and one of the old one.
    const next = [1, 2, 3].map(() => process(lasting.store, versions({ '2.0': ordering('2.0', log) })));
    const last = process(lasting.store, old);
    await last.server.start();
    for (const { server } of next) await server.start();
    await next[0]?.call('tasks/update', { taskId, inputResponses: answer });
    await waitForStatus(last.call, taskId, 'completed');
    expect(log).toEqual(['1.0 charges A', '1.0 ships A']);
    for (const { server } of [first, ...next, last]) await server.close();
  });

  it('fails when the last process with its version has died, as soon as its lease has ended', async () => {
    const lasting = lastingStore();
    const log: string[] = [];
    const old = versions({ '1.0': ordering('1.0', log) });
    const mortal = mortalStore(lasting.store);
    const first = process(mortal.store, old);
    const { taskId } = await first.call('tools/call', { name: 'order', arguments: { order: 'A' } });
    await waitForStatus(first.call, taskId, 'input_required');
    mortal.kill();
    const second = process(lasting.store, versions({ '2.0': ordering('2.0', log) }));
    await second.server.start();
    await second.call('tasks/update', { taskId, inputResponses: answer });
    const task = await waitForStatus(second.call, taskId, 'failed');
    expect(task).toMatchObject({ error: { message: expect.stringContaining('is not served any more') } });
    expect(log).toEqual(['1.0 charges A']);
    await second.server.close();
  });

  it('whose tool had no versions continues in the version that its arguments fit', async () => {
    const lasting = lastingStore();
    const log: string[] = [];
    const taskId = await begin(lasting, ordering('1.0', log));
    const other = tool({
      input: z.object({ cart: z.string() }),
      task: 'required',
      run: () => 'cart',
    }) as Tool;
    const { server, call } = process(
      lasting.store,
      versions({ '1.0': ordering('1.0', log), '2.0': other }) as Tool,
    );
    await call('tasks/update', { taskId, inputResponses: answer });
    await waitForStatus(call, taskId, 'completed');
    expect(log).toEqual(['1.0 charges A', '1.0 ships A']);
    await server.close();
  });

  it('waits for a tool that the program adds after its start', async () => {
    const lasting = lastingStore();
    const log: string[] = [];
    const taskId = await begin(lasting, ordering('1.0', log));
    const { server, call } = process(lasting.store, undefined);
    await server.start();
    await call('tasks/update', { taskId, inputResponses: answer });
    await until('it was refused', async () => (await lasting.entry(taskId))['refused'] !== undefined);
    expect(await call('tasks/get', { taskId })).toMatchObject({
      status: 'working',
      statusMessage: 'Waiting for a process that has the code which began the task',
    });
    server.tool('order', (ordering('1.0', log) as Tool).options as never, ordering('1.0', log).run as never);
    const task = await waitForStatus(call, taskId, 'completed');
    expect(task).not.toHaveProperty('statusMessage');
    expect(log).toEqual(['1.0 charges A', '1.0 ships A']);
    await server.close();
  });
});

describe('a task whose version has a migration', () => {
  type Journal = Parameters<
    NonNullable<Exclude<Tool['options']['task'], string | undefined>['migrate']>['journal']
  >[0];

  const renamed = (journal: Journal): Journal => {
    const { 'charge 1.0': charged, ...steps } = journal.steps;
    return { ...journal, args: { order: 'B' }, steps: { ...steps, 'charge 2.0': charged } };
  };

  it('continues in the next version with the journal that the migration returns, and no step runs twice', async () => {
    const lasting = lastingStore();
    const log: string[] = [];
    const seen: Journal[] = [];
    const taskId = await begin(lasting, versions({ '1.0': ordering('1.0', log) }));
    const journal = (before: Journal): Journal => {
      seen.push(before);
      return renamed(before);
    };
    const next = versions({ '2.0': ordering('2.0', log, { migrate: { from: '1.0', journal } }) });
    const second = process(lasting.store, next);
    await second.call('tasks/update', { taskId, inputResponses: answer });
    const task = await waitForStatus(second.call, taskId, 'completed');
    // The answer to the same question holds.
    expect(task).toMatchObject({ result: { content: [{ text: '2.0 charge 1.0' }] } });
    expect(log).toEqual(['1.0 charges A', '2.0 ships B']);
    expect(seen).toEqual([
      {
        args: { order: 'A' },
        steps: { 'charge 1.0': 'charge 1.0' },
        answers: { sure: { action: 'accept', content: { ok: true } } },
        unfinished: [],
      },
    ]);
    await second.server.close();
  });

  it('is migrated once, whichever process continues it, and from version to version', async () => {
    const lasting = lastingStore();
    const log: string[] = [];
    let migrations = 0;
    const asked = (key: string) => ({
      support: 'required' as const,
      migrate: {
        from: key,
        journal: ({ args, steps }: Journal) => {
          migrations++;
          return { args, steps, answers: {} };
        },
      },
    });
    const asking = (version: string, from?: string): Tool =>
      tool({
        input,
        task: from === undefined ? 'required' : asked(from),
        run: async (_, ctx: Context) => {
          await ctx.step('first', () => log.push(`first in ${version}`));
          await ctx.ask('sure', sure);
          return version;
        },
      }) as Tool;
    const taskId = await begin(lasting, versions({ '1.0': asking('1.0') }));
    const second = process(lasting.store, versions({ '2.0': asking('2.0', '1.0') }));
    await second.call('tasks/update', { taskId, inputResponses: answer });
    // The migration has left the answer out, so the same question is asked again, and the old answer does not count.
    await until('it was migrated', () => migrations === 1);
    await waitForStatus(second.call, taskId, 'input_required');
    await quiet();
    await second.server.close();
    const again = process(lasting.store, versions({ '2.0': asking('2.0', '1.0') }));
    await again.server.start();
    await quiet();
    expect(await again.call('tasks/get', { taskId })).toMatchObject({ status: 'input_required' });
    await again.server.close();
    expect(migrations).toBe(1);
    const third = process(
      lasting.store,
      versions({ '3.0': asking('3.0', '2.0'), '2.5': asking('2.5', '1.0') }),
    );
    await third.call('tasks/update', { taskId, inputResponses: answer });
    await until('it was migrated again', () => migrations === 2);
    await waitForStatus(third.call, taskId, 'input_required');
    await third.call('tasks/update', { taskId, inputResponses: answer });
    const task = await waitForStatus(third.call, taskId, 'completed');
    expect(task).toMatchObject({ result: { content: [{ text: '3.0' }] } });
    expect(log).toEqual(['first in 1.0']);
    expect(migrations).toBe(2);
    await third.server.close();
  });

  it('fails without an effect if the migration throws, or returns what it must not', async () => {
    const mistakes: [string, (journal: Journal) => unknown][] = [
      ['throws', () => Promise.reject(new Error('No way from 1.0'))],
      ['returns nothing', () => undefined],
      ['invents an answer', (journal) => ({ ...journal, answers: { ...journal.answers, other: {} } })],
      ['returns a step that is not JSON', (journal) => ({ ...journal, steps: { a: new Map() } })],
      ['returns arguments that the version refuses', (journal) => ({ ...journal, args: { order: 7 } })],
    ];
    for (const [mistake, journal] of mistakes) {
      const lasting = lastingStore();
      const log: string[] = [];
      const taskId = await begin(lasting, versions({ '1.0': ordering('1.0', log) }));
      const next = ordering('2.0', log, { migrate: { from: '1.0', journal } });
      const { server, call } = process(lasting.store, versions({ '2.0': next }));
      await call('tasks/update', { taskId, inputResponses: answer });
      const task = await waitForStatus(call, taskId, 'failed');
      expect(task, mistake).toMatchObject({ error: { message: expect.stringMatching(/version|arguments/) } });
      expect(log, mistake).toEqual(['1.0 charges A']);
      await server.close();
    }
  });

  it('is continued by its own version while a process has it', async () => {
    const lasting = lastingStore();
    const log: string[] = [];
    const taskId = await begin(lasting, versions({ '1.0': ordering('1.0', log) }));
    const next = ordering('2.0', log, { migrate: { from: '1.0', journal: renamed } });
    const { server, call } = process(lasting.store, versions({ '1.0': ordering('1.0', log), '2.0': next }));
    await call('tasks/update', { taskId, inputResponses: answer });
    await waitForStatus(call, taskId, 'completed');
    expect(log).toEqual(['1.0 charges A', '1.0 ships A']);
    await server.close();
  });
});
