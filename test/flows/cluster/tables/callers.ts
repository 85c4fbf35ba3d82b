import { describe, expect, test } from 'vitest';
import { openEvents } from '../../../support/http/http.js';
import { modern } from '../../../support/http/modern.js';
import { openSession } from '../../../support/http/sessions.js';
import { until } from '../../../support/until.js';
import type { ReplicaSet } from '../replica-set.js';
import { expectSpread } from './spread.js';
import { able, answerTo, freshKey, type Message, nextOther } from './work.js';

const as = (user: string | undefined) => ({ 'x-user': user });
const TASKS = 'io.modelcontextprotocol/tasks';
const KEY = 'fullmcp/idempotencyKey';

/** Runs the flows in which it matters who calls, and the keys that make a call happen once for its caller. */
export function callerTable(replicas: () => ReplicaSet): void {
  async function ask(user: string | undefined, params: Message, method = 'tools/call'): Promise<Message> {
    const { _meta, ...rest } = params;
    const { text } = await modern(replicas().url('work'), method, rest, {
      meta: {
        'io.modelcontextprotocol/clientCapabilities': { ...able, extensions: { [TASKS]: {} } },
        ..._meta,
      },
      headers: { ...as(user), 'mcp-name': params['name'] ?? params['taskId'] },
    });
    return JSON.parse(text);
  }

  describe('a caller', () => {
    expectSpread(replicas, 'work');

    test('is known to every replica', async () => {
      for (const user of ['ada', 'eve', undefined, 'ada'])
        expect((await ask(user, { name: 'me' }))['result'].content[0].text).toBe(user ?? 'nobody');
    });

    test('cannot read, answer or cancel the task of another caller at any replica', async () => {
      const { taskId } = (await ask('ada', { name: 'assignment' }))['result'];
      let task: Message = {};
      await until('the task asks', async () => {
        task = (await ask('ada', { taskId }, 'tasks/get'))['result'];
        return task['status'] === 'input_required';
      });
      const inputResponses = { name: { action: 'accept', content: { name: 'Eve' } } };
      for (const user of ['eve', undefined])
        for (const [method, more] of [
          ['tasks/get', {}],
          ['tasks/update', { inputResponses }],
          ['tasks/cancel', {}],
        ] as const)
          for (let at = 0; at < 3; at++) {
            const { error } = await ask(user, { taskId, ...more }, method);
            expect(error, `${method} of ${user}`).toMatchObject({
              message: expect.stringMatching(/unknown|not/i),
            });
          }
      expect(replicas().entries('ordered')).toEqual([]);
      while (task['status'] !== 'completed') {
        const answers = Object.entries((task['inputRequests'] ?? {}) as Message);
        await ask(
          'ada',
          { taskId, inputResponses: Object.fromEntries(answers.map(([key, it]) => [key, answerTo(it)])) },
          'tasks/update',
        );
        task = (await ask('ada', { taskId }, 'tasks/get'))['result'];
      }
      expect(replicas().entries('ordered')).toMatchObject([{ name: 'Ada' }]);
    });

    test('cannot continue the call of another caller at any replica', async () => {
      const first = (await ask('ada', { name: 'commission' }))['result'];
      const inputResponses = { name: { action: 'accept', content: { name: 'Eve' } } };
      const again = { name: 'commission', inputResponses, requestState: first.requestState };
      for (const user of ['eve', undefined])
        for (let at = 0; at < 3; at++) expect((await ask(user, again))['error']).toBeDefined();
      expect(replicas().entries('ordered')).toEqual([]);
      expect((await ask('ada', again))['result'].resultType).toBe('input_required');
    });

    test('can neither use the session of another caller nor answer its questions at any replica', async () => {
      const url = replicas().url('work');
      const ada = await openSession(url, '2025-11-25', able, as('ada'));
      const eve = await openSession(url, '2025-11-25', able, as('eve'));
      const events = await openEvents(url, {
        headers: { ...ada.headers, ...as('ada') },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'commission' } }),
      });
      const { message } = await nextOther(events);
      const answer = { jsonrpc: '2.0', id: message['id'], result: answerTo(message) };
      for (let at = 0; at < 3; at++) {
        expect((await eve.post(answer, as('eve'))).status).toBe(400);
        expect((await ada.post(answer, as('eve'))).status).toBe(404);
        expect((await ada.post(answer)).status).toBe(404);
        expect((await ada.get(as('eve'))).status).toBe(404);
      }
      expect(replicas().entries('ordered')).toEqual([]);
      expect((await ada.post(answer, as('ada'))).status).toBe(202);
      expect((await nextOther(events)).message['method']).toMatch(/create|list/);
      expect(replicas().entries('ordered')).toHaveLength(1);
      events.drop();
    });

    test('repeats a call with the same key at every replica, and it happens once for each caller', async () => {
      const key = freshKey();
      const pay = (user: string) =>
        ask(user, { name: 'pay', arguments: { to: key }, _meta: { [KEY]: key } }).then(
          ({ result }) => result.structuredContent,
        );
      const first = await pay('ada');
      for (let at = 0; at < 3; at++) expect(await pay('ada')).toEqual(first);
      expect(replicas().entries('paid')).toHaveLength(1);
      await pay('eve');
      await pay('eve');
      expect(replicas().entries('paid')).toHaveLength(2);
    });

    test('sends a call with the same key to three replicas at once, and it happens once', async () => {
      const key = freshKey();
      const calls = [0, 1, 2].map(() =>
        ask('ada', { name: 'payAtGate', arguments: { key }, _meta: { [KEY]: key } }),
      );
      await until(
        'all calls have arrived',
        () =>
          replicas()
            .entries('call')
            .filter(({ name }) => name === 'payAtGate').length === 3,
      );
      await ask('ada', { name: 'open', arguments: { key } });
      const results = (await Promise.all(calls)).map(({ result }) => result.structuredContent);
      expect(results).toEqual([results[0], results[0], results[0]]);
      expect(replicas().entries('paid')).toHaveLength(1);
    });

    test('of a session repeats a call with the same key at every replica, and it happens once', async () => {
      const key = freshKey();
      const session = await openSession(replicas().url('work'), '2025-06-18', able, as('ada'));
      const pay = async () => {
        const params = { name: 'pay', arguments: { to: key }, _meta: { [KEY]: key } };
        const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
        return JSON.parse((await session.post(message, as('ada'))).text).result.structuredContent;
      };
      const first = await pay();
      for (let at = 0; at < 3; at++) expect(await pay()).toEqual(first);
      expect(replicas().entries('paid')).toHaveLength(1);
    });
  });
}
