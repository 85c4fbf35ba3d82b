import { createServer, inProcess, type Middleware, type Outcome, tool } from 'fullmcp';
import { outputBudget, sizeLimit } from 'fullmcp/middleware';
import { expect, it, onTestFinished, vi } from 'vitest';
import { signal } from '../../support/signal.js';
import { able, waitForStatus } from '../../support/tasks.js';

// The results of tasks also reach clients in notifications, which no limit may miss.

const LONG = 'One line of a report.\n'.repeat(1000);

async function notifiedOf(use: readonly Middleware[]): Promise<{ notified: Outcome; polled: Outcome }> {
  const gate = signal();
  const server = createServer({
    name: 'reports',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    use,
    tools: {
      report: tool({
        task: 'required',
        run: async () => {
          await gate.promise;
          return LONG;
        },
      }),
    },
  });
  onTestFinished(() => server.close());
  const call = inProcess(server, able);
  const { taskId } = await call('tools/call', { name: 'report' });
  const tasks: Record<string, unknown>[] = [];
  const acknowledged = signal();
  const controller = new AbortController();
  const listening = call(
    'subscriptions/listen',
    { notifications: { taskIds: [taskId] } },
    {
      signal: controller.signal,
      onNotification(method, params) {
        if (method === 'notifications/tasks') tasks.push(params ?? {});
        else acknowledged.give();
      },
    },
  );
  await acknowledged.promise;
  gate.give();
  await vi.waitFor(() => expect(tasks.at(-1)).toMatchObject({ taskId, status: 'completed' }));
  const polled = await waitForStatus(call, taskId, 'completed');
  controller.abort();
  await listening;
  return { notified: tasks.at(-1) as unknown as Outcome, polled: polled as Outcome };
}

const textOf = ({ result }: Outcome): string =>
  (result as { content: readonly { text?: string }[] }).content.map(({ text = '' }) => text).join('');

it('sizeLimit refuses the result in a notification of a task as it does in tasks/get', async () => {
  const { notified, polled } = await notifiedOf([sizeLimit({ maxResultChars: 1000 })]);
  expect(notified['result']).toMatchObject({ isError: true });
  expect(textOf(notified)).toBe(textOf(polled));
  expect(notified).not.toHaveProperty('resultType');
  expect(notified['_meta']).toHaveProperty('io.modelcontextprotocol/subscriptionId');
});

it('outputBudget shortens the result in a notification of a task as it does in tasks/get', async () => {
  const { notified, polled } = await notifiedOf([outputBudget({ maxChars: 1000, headChars: 100 })]);
  expect(textOf(notified).length).toBeLessThan(1000);
  expect(textOf(polled).length).toBeLessThan(1000);
  expect(JSON.stringify(notified)).toContain('output://');
});

it('a notification of a task is whole if no middleware limits it', async () => {
  const { notified } = await notifiedOf([]);
  expect(textOf(notified)).toBe(LONG);
});
