import { createServer, inProcess, memoryBus, memoryStore, tool } from 'fullmcp';
import { afterEach, expect, test, vi } from 'vitest';
import { able, waitForStatus } from '../../../support/tasks.js';

afterEach(() => void vi.useRealTimers());

function start(shared: { bus?: true } = {}) {
  const logged: string[] = [];
  const server = createServer({
    name: 'replica',
    version: '1',
    logger: (_level, message) => void logged.push(message),
    ...(shared.bus && { bus: memoryBus(), store: memoryStore() }),
    tools: { quick: tool({ task: { support: 'required', ttlMs: 1000 }, run: () => 'done' }) },
  });
  return { call: inProcess(server, able), logged, server };
}

const unknown = expect.objectContaining({ message: expect.stringContaining('Unknown task') });

test('a task that another process created is reported once, with what to set', async () => {
  const [here, elsewhere] = [start(), start()];
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    const { taskId } = await elsewhere.call('tools/call', { name: 'quick' });
    await expect(here.call(method, { taskId, inputResponses: {} })).rejects.toEqual(unknown);
  }
  const [warning, ...others] = here.logged;
  expect(others).toEqual([]);
  expect(warning).toContain('A client asked for a task that this process does not know');
  expect(warning).toContain('MCP_SECRET');
  expect(warning).toContain('MCP_CLUSTER_URL');
});

test('a mistyped task id is not reported', async () => {
  const here = start();
  for (const taskId of ['nonsense', '', crypto.randomUUID().slice(1), crypto.randomUUID().toUpperCase()])
    await expect(here.call('tasks/get', { taskId })).rejects.toEqual(unknown);
  expect(here.logged).toEqual([]);
});

test('a task of this process that has expired is not reported', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const here = start();
  const { taskId } = await here.call('tools/call', { name: 'quick' });
  await waitForStatus(here.call, taskId, 'completed');
  vi.setSystemTime(Date.now() + 60_000);
  vi.advanceTimersByTime(60_000);
  await expect(here.call('tasks/get', { taskId })).rejects.toEqual(unknown);
  expect(here.logged).toEqual([]);
});

test('a task that belongs to another caller of this process is not reported', async () => {
  const here = start();
  const asAnn = inProcess(here.server, { ...able, caller: { subject: 'ann' } });
  const asBob = inProcess(here.server, { ...able, caller: { subject: 'bob' } });
  const { taskId } = await asAnn('tools/call', { name: 'quick' });
  await expect(asBob('tasks/get', { taskId })).rejects.toEqual(unknown);
  expect(here.logged).toEqual([]);
});

test('an unknown task is not reported by processes that share their tasks', async () => {
  const here = start({ bus: true });
  await expect(here.call('tasks/get', { taskId: crypto.randomUUID() })).rejects.toEqual(unknown);
  expect(here.logged).toEqual([]);
});

test('the memory of created tasks has a limit', async () => {
  const here = start();
  const first = (await here.call('tools/call', { name: 'quick' }))['taskId'] as string;
  const created = new Set<unknown>([first]);
  for (let n = 0; n < 1000; n++) created.add((await here.call('tools/call', { name: 'quick' }))['taskId']);
  expect(created.size).toBe(1001);
  const other = inProcess(here.server, { ...able, caller: { subject: 'bob' } });
  const second = [...created][1];
  await expect(other('tasks/get', { taskId: second })).rejects.toEqual(unknown);
  expect(here.logged).toEqual([]);
  await expect(other('tasks/get', { taskId: first })).rejects.toEqual(unknown);
  expect(here.logged).toHaveLength(1);
});
