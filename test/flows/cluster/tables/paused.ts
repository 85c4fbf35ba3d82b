import { describe, expect, test } from 'vitest';
import { modern } from '../../../support/http/modern.js';
import { until } from '../../../support/until.js';
import type { ReplicaSet } from '../replica-set.js';
import { able, freshKey, type Message, untilRecorded } from './work.js';

const meta = {
  'io.modelcontextprotocol/clientCapabilities': {
    ...able,
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

/** Pauses the replica that runs a task for longer than its lease (SIGSTOP), and lets it continue when another one has the task. */
export function pausedTable(replicas: () => ReplicaSet): void {
  describe.each([0, 1])('replica %i', (first) => {
    test('that was paused in a step runs no further step of its task, and does not change the result', async () => {
      replicas().clear();
      const key = freshKey();
      const ask = async (replica: number, method: string, params: Message): Promise<Message> => {
        const headers = { 'mcp-name': params['name'] ?? params['taskId'] };
        const url = replicas().direct('work', replica);
        return JSON.parse((await modern(url, method, params, { meta, headers })).text).result;
      };
      const { taskId } = await ask(first, 'tools/call', { name: 'job', arguments: { key } });
      const owner = await untilRecorded(replicas, 'step', { key, step: 3 });
      const stepsOf = (isOwner: boolean): unknown[] =>
        replicas()
          .entries('step')
          .filter((entry) => entry['key'] === key && (entry.replica === owner) === isOwner)
          .map(({ step }) => step);
      const other = (owner + 1) % 3;
      const status = async (replica: number) => (await ask(replica, 'tasks/get', { taskId }))['status'];
      replicas().signal(owner, 'SIGSTOP');
      try {
        await until('another replica runs the step', () => stepsOf(false).length === 1);
        await ask(other, 'tools/call', { name: 'open', arguments: { key } });
        await until('the task is completed', async () => (await status(other)) === 'completed');
      } finally {
        replicas().signal(owner, 'SIGCONT');
      }
      // It finds the gate open, so that its step ends, too.
      await untilRecorded(replicas, 'log', { message: lost(taskId) });
      for (let replica = 0; replica < 3; replica++) expect(await status(replica)).toBe('completed');
      expect(stepsOf(true)).toEqual([1, 2, 3]);
      expect(stepsOf(false)).toEqual([3, 4, 5]);
    });
  });
}

const lost = (taskId: string): string =>
  `Task ${taskId} is no longer held by this process. Another one may continue it.`;
