import { describe, expect, test } from 'vitest';
import { modern, modernStream } from '../../../support/http/modern.js';
import { openSession, type SessionClient } from '../../../support/http/sessions.js';
import { until } from '../../../support/until.js';
import type { ReplicaSet } from '../replica-set.js';
import { expectSpread } from './spread.js';
import {
  able,
  answerTo,
  commissioned,
  freshKey,
  type Message,
  next,
  nextOther,
  rest,
  untilRecorded,
} from './work.js';

const meta = {
  'io.modelcontextprotocol/clientCapabilities': {
    ...able,
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

/** Runs the flows of tasks, as the extension of 2026-07-28 and as a part of 2025-11-25. */
export function taskTable(replicas: () => ReplicaSet): void {
  const steps = (key: string): unknown[] =>
    replicas()
      .entries('step')
      .filter((entry) => entry['key'] === key)
      .map(({ step }) => step);

  describe('a task of 2026-07-28', () => {
    expectSpread(replicas, 'work');

    async function ask(method: string, params: Message): Promise<Message> {
      const headers = { 'mcp-name': params['name'] ?? params['taskId'] };
      return JSON.parse((await modern(replicas().url('work'), method, params, { meta, headers })).text);
    }

    async function create(name: string, args: object = {}): Promise<string> {
      return (await ask('tools/call', { name, arguments: args }))['result'].taskId;
    }

    async function untilStatus(taskId: string, status: string): Promise<Message> {
      let task: Message = {};
      await until(`the task is ${status}`, async () => {
        task = (await ask('tasks/get', { taskId }))['result'];
        return task['status'] === status;
      });
      return task;
    }

    test('is watched and answered at other replicas, and every replica has its result', async () => {
      const taskId = await create('assignment');
      let task = await untilStatus(taskId, 'input_required');
      for (; task['status'] !== 'completed'; task = (await ask('tasks/get', { taskId }))['result']) {
        const questions = Object.entries((task['inputRequests'] ?? {}) as Message);
        // Each answer goes to another replica.
        for (const [key, question] of questions)
          await ask('tasks/update', { taskId, inputResponses: { [key]: answerTo(question) } });
      }
      for (let at = 0; at < 3; at++) {
        const { result } = await ask('tasks/get', { taskId });
        expect(JSON.parse(result.result.content[0].text)).toEqual(commissioned);
      }
      expect(replicas().entries('ordered')).toHaveLength(1);
      expect(replicas().entries('finished')).toHaveLength(1);
    });

    test('is reported to a client that listens at another replica', async () => {
      const key = freshKey();
      const taskId = await create('job', { key });
      const owner = await untilRecorded(replicas, 'step', { key, step: 3 });
      // A stream at each replica: at least two of them are not the owner.
      const streams = [];
      for (let at = 0; at < 3; at++) {
        const events = await modernStream(
          replicas().url('work'),
          'subscriptions/listen',
          { notifications: { taskIds: [taskId] } },
          { meta },
        );
        expect((await next(events)).message['method']).toBe('notifications/subscriptions/acknowledged');
        streams.push(events);
      }
      const listening = replicas()
        .passed('work')
        .filter(({ rpc }) => rpc === 'subscriptions/listen');
      expect(listening.filter(({ replica }) => replica !== owner)).toHaveLength(2);
      await ask('tools/call', { name: 'open', arguments: { key } });
      for (const events of streams) {
        let task: Message = {};
        while (task['status'] !== 'completed') {
          const { message } = await nextOther(events);
          expect(message['method']).toBe('notifications/tasks');
          task = message['params'];
        }
        expect(task).toMatchObject({ taskId, result: { content: [{ text: `job ${key} done` }] } });
        events.drop();
      }
      expect(steps(key)).toEqual([1, 2, 3, 4, 5]);
    });

    test('is cancelled at another replica, where its work stops', async () => {
      // Whichever replica has the task, two of three requests to cancel go elsewhere.
      const owners = [];
      for (let at = 0; at < 3; at++) {
        const key = freshKey();
        const taskId = await create('job', { key });
        owners.push(await untilRecorded(replicas, 'step', { key, step: 3 }));
        expect((await ask('tasks/cancel', { taskId }))['error']).toBeUndefined();
        for (let replica = 0; replica < 3; replica++)
          expect((await ask('tasks/get', { taskId }))['result'].status).toBe('cancelled');
        await until(
          'the step has been cut off',
          () =>
            replicas()
              .entries('aborted')
              .filter(({ name }) => name === 'job').length ===
            at + 1,
        );
        expect(steps(key)).toEqual([1, 2, 3]);
      }
      const cancels = replicas()
        .passed('work')
        .filter(({ rpc }) => rpc === 'tasks/cancel');
      expect(cancels.map(({ replica }) => replica)).not.toEqual(owners);
    });
  });

  describe('a task of 2025-11-25', () => {
    expectSpread(replicas, 'work');

    const open = (): Promise<SessionClient> => openSession(replicas().url('work'), '2025-11-25', able);

    async function ask(session: SessionClient, method: string, params: Message): Promise<Message> {
      const message = JSON.parse((await session.request(method, params)).text);
      if (message.error !== undefined) throw new Error(message.error.message);
      return message.result;
    }

    test('asks on the stream of tasks/result, and is answered at other replicas', async () => {
      const session = await open();
      const { task } = await ask(session, 'tools/call', { name: 'assignment', task: {} });
      const { taskId } = task;
      const events = await session.stream('tasks/result', { taskId }, 2);
      for (;;) {
        const { message } = await nextOther(events);
        if (message['method'] === undefined) {
          expect(message['id']).toBe(2);
          expect(JSON.parse(message['result'].content[0].text)).toEqual(commissioned);
          break;
        }
        const answer = { jsonrpc: '2.0', id: message['id'], result: answerTo(message) };
        expect((await session.post(answer)).status).toBe(202);
      }
      for (let at = 0; at < 3; at++) {
        expect((await ask(session, 'tasks/get', { taskId }))['status']).toBe('completed');
        const again = await ask(session, 'tasks/result', { taskId });
        expect(JSON.parse(again['content'][0].text)).toEqual(commissioned);
      }
      expect(replicas().entries('ordered')).toHaveLength(1);
      expect(replicas().entries('finished')).toHaveLength(1);
    });

    test('is cancelled at another replica, and tasks/result at a third one ends', async () => {
      const session = await open();
      const key = freshKey();
      const { task } = await ask(session, 'tools/call', { name: 'job', arguments: { key }, task: {} });
      const { taskId } = task;
      const owner = await untilRecorded(replicas, 'step', { key, step: 3 });
      const result = session.request('tasks/result', { taskId }, 2);
      await until('tasks/result is open', () =>
        replicas()
          .passed('work')
          .some(({ rpc }) => rpc === 'tasks/result'),
      );
      expect((await ask(session, 'tasks/cancel', { taskId }))['status']).toBe('cancelled');
      expect((await result).text).toContain('cancelled');
      expect(await untilRecorded(replicas, 'aborted', { name: 'job' })).toBe(owner);
      for (let at = 0; at < 3; at++)
        expect((await ask(session, 'tasks/get', { taskId }))['status']).toBe('cancelled');
      expect(steps(key)).toEqual([1, 2, 3]);
    });

    test('continues to ask a client that resumes the stream of tasks/result at another replica', async () => {
      const session = await open();
      const { task } = await ask(session, 'tools/call', { name: 'assignment', task: {} });
      const events = await session.stream('tasks/result', { taskId: task.taskId }, 2);
      const question = await nextOther(events);
      events.drop();
      const again = await session.resume(String(question.id));
      const answer = (message: Message) =>
        session.post({ jsonrpc: '2.0', id: message['id'], result: answerTo(message) });
      expect((await answer(question.message)).status).toBe(202);
      for (let at = 0; at < 3; at++)
        expect((await answer((await nextOther(again)).message)).status).toBe(202);
      const { message } = await nextOther(again);
      expect(JSON.parse(message['result'].content[0].text)).toEqual(commissioned);
      expect(await rest(again)).toEqual([]);
    });
  });
}
