import { beforeEach, describe, expect, test } from 'vitest';
import { type Events, openEvents, send } from '../../../support/http/http.js';
import { modern } from '../../../support/http/modern.js';
import { initializeMessage, jsonHeaders } from '../../../support/http/sessions.js';
import type { ReplicaSet } from '../replica-set.js';
import { able, answerTo, freshKey, type Message, next } from './work.js';

/**
 * Runs what holds for HTTP+SSE (2024-11-05), whose connection is its session: it needs a balancer that keeps a client at one
 * replica. Behind any other balancer a message is rejected, never lost in silence.
 */
export function httpSseTable(replicas: () => ReplicaSet): void {
  async function open(url: string): Promise<{ events: Events; post: (message: Message) => Promise<number> }> {
    const events = await openEvents(url.replace('/mcp', '/sse'), { method: 'GET' });
    const endpoint = new URL(String((await events.next())?.data), url).href;
    const post = async (message: Message): Promise<number> =>
      (await send(endpoint, { headers: jsonHeaders, body: JSON.stringify(message) })).status;
    return { events, post };
  }

  describe('a client of HTTP+SSE', () => {
    beforeEach(() => replicas().clear());

    test('works at one replica, and hears there of changes that another one announces', async () => {
      const { events, post } = await open(replicas().direct('work', 1));
      await post(initializeMessage('2024-11-05', able) as Message);
      expect((await next(events)).message['result'].protocolVersion).toBe('2024-11-05');
      const params = { name: 'slogan', arguments: {} };
      await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      for (let question = 0; question < 2; question++) {
        const { message } = await next(events);
        await post({ jsonrpc: '2.0', id: message['id'], result: answerTo(message) });
      }
      expect((await next(events)).message).toMatchObject({
        id: 1,
        result: { content: [{ text: 'Ada adds up at file:///work' }] },
      });
      const uri = `work://${freshKey()}`;
      await post({ jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri } });
      expect((await next(events)).message['id']).toBe(2);
      for (const replica of [0, 2]) {
        await modern(replicas().direct('work', replica), 'tools/call', { name: 'touch', arguments: { uri } });
        expect((await next(events)).message['params']).toEqual({ uri });
      }
      events.drop();
    });

    test('gets 404 for a message that a balancer without stickiness sends to another replica', async () => {
      const { events, post } = await open(replicas().url('work'));
      const initialize = initializeMessage('2024-11-05', able) as Message;
      expect([await post(initialize), await post(initialize)]).toEqual([404, 404]);
      expect(await post(initialize)).toBe(202);
      expect((await next(events)).message['id']).toBe('init');
      events.drop();
    });
  });
}
