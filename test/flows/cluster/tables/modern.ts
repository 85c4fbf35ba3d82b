import { describe, expect, test } from 'vitest';
import { type ModernOptions, modern, modernStream } from '../../../support/http/modern.js';
import type { ReplicaSet } from '../replica-set.js';
import { expectSpread } from './spread.js';
import { able, answerTo, commissioned, freshKey, type Message, next, rest, untilRecorded } from './work.js';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** Runs the flows of 2026-07-28, which has no sessions. */
export function modernTable(replicas: () => ReplicaSet): void {
  const meta = { [CAPABILITIES]: able, progressToken: 1 };
  const stream = (name: string, args: object = {}, more: object = {}) =>
    modernStream(
      replicas().url('work'),
      'tools/call',
      { name, arguments: args },
      { meta: { ...meta, ...more } },
    );

  async function call(params: Message, options: ModernOptions = {}): Promise<Message> {
    const { text } = await modern(replicas().url('work'), 'tools/call', params, {
      meta: { [CAPABILITIES]: able },
      ...options,
    });
    return JSON.parse(text);
  }

  describe('a client of 2026-07-28', () => {
    expectSpread(replicas, 'work');

    test('is served by every replica', async () => {
      const served = [];
      for (let at = 0; at < 6; at++)
        served.push((await call({ name: 'where' }))['result'].structuredContent.replica);
      expect(new Set(served)).toEqual(new Set([0, 1, 2]));
    });

    test('gets progress and log messages of a call at any replica', async () => {
      for (let at = 0; at < 3; at++) {
        const counted = await rest(await stream('count', { to: 3 }));
        expect(counted.map(({ params, result }) => params?.progress ?? result.content[0].text)).toEqual([
          1,
          2,
          3,
          'counted to 3',
        ]);
        const talked = await rest(await stream('talk', {}, { [LOG_LEVEL]: 'error' }));
        expect(talked.map(({ params, result }) => params?.level ?? result.content[0].text)).toEqual([
          'error',
          'said',
        ]);
      }
    });

    test('answers the questions of a call at other replicas, and the step runs once', async () => {
      let reply = await call({ name: 'commission' });
      let rounds = 0;
      for (; reply['result'].resultType === 'input_required'; rounds++) {
        const { inputRequests, requestState } = reply['result'];
        const inputResponses = Object.fromEntries(
          Object.entries(inputRequests as Message).map(([key, question]) => [key, answerTo(question)]),
        );
        reply = await call({ name: 'commission', inputResponses, requestState });
      }
      expect(rounds).toBe(2);
      expect(JSON.parse(reply['result'].content[0].text)).toEqual(commissioned);
      expect(
        new Set(
          replicas()
            .entries('run')
            .map(({ replica }) => replica),
        ).size,
      ).toBe(3);
      expect(replicas().entries('ordered')).toHaveLength(1);
    });

    test('hears at one replica of changes that another one announces', async () => {
      const uri = `work://${freshKey()}`;
      const notifications = {
        resourceSubscriptions: [uri],
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
      };
      // A stream at each replica.
      const streams = [];
      for (let at = 0; at < 3; at++) {
        const events = await modernStream(replicas().url('work'), 'subscriptions/listen', { notifications });
        expect((await next(events)).message['method']).toBe('notifications/subscriptions/acknowledged');
        streams.push(events);
      }
      await call({ name: 'touch', arguments: { uri: 'work://other' } });
      await call({ name: 'touch', arguments: { uri } });
      await call({ name: 'grow', arguments: {} });
      for (const events of streams) {
        const received = [];
        for (let at = 0; at < 4; at++) received.push((await next(events)).message);
        // Announcements of different replicas may overtake each other.
        expect(received.map(({ method, params }) => params.uri ?? method).sort()).toEqual([
          'notifications/prompts/list_changed',
          'notifications/resources/list_changed',
          'notifications/tools/list_changed',
          uri,
        ]);
        events.drop();
      }
    });

    test('does not hear of the changes of another server on the same engine', async () => {
      const uri = `work://${freshKey()}`;
      const notifications = { resourceSubscriptions: [uri], toolsListChanged: true };
      const events = await modernStream(replicas().url('work'), 'subscriptions/listen', { notifications });
      await next(events);
      await modern(replicas().url('interop'), 'tools/call', { name: 'touch', arguments: { uri } });
      await modern(replicas().url('interop'), 'tools/call', { name: 'grow', arguments: { name: 'grown' } });
      await call({ name: 'touch', arguments: { uri: 'work://other' } });
      await call({ name: 'grow', arguments: {} });
      await call({ name: 'touch', arguments: { uri } });
      const expected = ['notifications/resources/updated', 'notifications/tools/list_changed'];
      const received: string[] = [];
      while (!expected.every((method) => received.includes(method)))
        received.push((await next(events)).message['method']);
      expect(received.sort()).toEqual(expected);
      events.drop();
    });

    test('aborts a call when its connection breaks, with and without a stream, and no further step runs', async () => {
      const key = freshKey();
      const long = await stream('long', { key });
      await next(long);
      const streaming = await untilRecorded(replicas, 'long', { key });
      const controller = new AbortController();
      const newsletter = fetch(replicas().url('work'), {
        method: 'POST',
        signal: controller.signal,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'newsletter',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: 'newsletter',
            arguments: { key },
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
              [CAPABILITIES]: {},
            },
          },
        }),
      }).catch(() => undefined);
      const mailing = await untilRecorded(replicas, 'mail', { reader: 1 });
      expect(mailing).not.toBe(streaming);
      long.drop();
      controller.abort();
      await newsletter;
      expect(await untilRecorded(replicas, 'aborted', { name: 'long' })).toBe(streaming);
      expect(await untilRecorded(replicas, 'aborted', { name: 'newsletter' })).toBe(mailing);
      await call({ name: 'open', arguments: { key } });
      await untilRecorded(replicas, 'done');
      expect(
        replicas()
          .entries('mail')
          .map(({ reader }) => reader),
      ).toEqual([1]);
    });
  });
}
