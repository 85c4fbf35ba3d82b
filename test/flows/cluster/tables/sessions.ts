import { describe, expect, test } from 'vitest';
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
  replicaOf,
  rest,
  untilRecorded,
} from './work.js';

const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Runs the flows of sessions: each request of a client goes to another replica than the one before. */
export function sessionTable(replicas: () => ReplicaSet): void {
  const open = (revision: string): Promise<SessionClient> =>
    openSession(replicas().url('work'), revision, able);

  const call = (name: string, args: object = {}) => ({
    name,
    arguments: args,
    _meta: { progressToken: 1 },
  });

  /** Answers questions until the response to a call arrives. */
  async function converse(session: SessionClient, name: string): Promise<Message> {
    const events = await session.stream('tools/call', call(name));
    for (;;) {
      const { message } = await nextOther(events);
      if (message['method'] === undefined) return message;
      const { status } = await session.post({
        jsonrpc: '2.0',
        id: message['id'],
        result: answerTo(message),
      });
      expect(status).toBe(202);
    }
  }

  describe.each(revisions)('a session of %s', (revision) => {
    expectSpread(replicas, 'work');

    test('is served by every replica', async () => {
      const session = await open(revision);
      const served = [];
      for (let at = 0; at < 6; at++) {
        const { text } = await session.request('tools/call', { name: 'where' });
        served.push(JSON.parse(JSON.parse(text).result.content[0].text).replica);
      }
      expect(new Set(served)).toEqual(new Set([0, 1, 2]));
    });

    test('gets progress and log messages of a call at any replica', async () => {
      const session = await open(revision);
      for (let at = 0; at < 3; at++) {
        const counted = await rest(await session.stream('tools/call', call('count', { to: 3 })));
        expect(counted.map(({ params, result }) => params?.progress ?? result.content[0].text)).toEqual([
          1,
          2,
          3,
          'counted to 3',
        ]);
        const talked = await rest(await session.stream('tools/call', call('talk')));
        expect(talked.map(({ params, result }) => params?.level ?? result.content[0].text)).toEqual([
          'info',
          'error',
          'said',
        ]);
      }
    });

    test('answers the questions of a call at other replicas, where the call continues', async () => {
      const session = await open(revision);
      const { result } = await converse(session, 'slogan');
      expect(result.content[0].text).toBe('Ada adds up at file:///work');
      const began = replicaOf(replicas, 'tools/call') as number;
      const finished = replicas().entries('finished');
      // The roots were answered at the next replica, and the model's text at the one after that.
      expect(finished.map(({ replica }) => replica)).toEqual([(began + 2) % 3]);
    });

    if (['2025-11-25', '2025-06-18'].includes(revision))
      test('answers several questions at once at different replicas, and the step runs once', async () => {
        const session = await open(revision);
        const { result } = await converse(session, 'commission');
        expect(JSON.parse(result.content[0].text)).toEqual(commissioned);
        const ordered = replicas().entries('ordered');
        expect(ordered).toHaveLength(1);
        const finished = replicas().entries('finished');
        expect(finished).toHaveLength(1);
        // The name was answered at the next replica, and the last of three questions three replicas later.
        expect(ordered[0]?.replica).not.toBe(replicaOf(replicas, 'tools/call'));
        const answers = replicas()
          .passed('work')
          .filter(({ rpc }) => rpc === 'response');
        expect(new Set(answers.map(({ replica }) => replica)).size).toBe(3);
      });

    test('cancels a call that runs at another replica', async () => {
      const session = await open(revision);
      const key = freshKey();
      const events = await session.stream('tools/call', call('long', { key }), 9);
      await next(events);
      const began = await untilRecorded(replicas, 'long', { key });
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } };
      expect((await session.post(cancel)).status).toBe(202);
      expect(await untilRecorded(replicas, 'aborted', { name: 'long' })).toBe(began);
      expect(replicaOf(replicas, 'notifications/cancelled')).not.toBe(began);
      expect((await nextOther(events)).message).toMatchObject({ id: 9, error: {} });
      expect(await rest(events)).toEqual([]);
    });

    test('resumes the stream of a running call at another replica', async () => {
      const session = await open(revision);
      const key = freshKey();
      const events = await session.stream('tools/call', call('long', { key }), 9);
      const { id } = await next(events);
      const began = await untilRecorded(replicas, 'long', { key });
      events.drop();
      const again = await session.resume(String(id));
      expect(again.status).toBe(200);
      expect(
        replicas()
          .passed('work')
          .find(({ method }) => method === 'GET')?.replica,
      ).not.toBe(began);
      await session.request('tools/call', call('open', { key }), 10);
      const received = await rest(again);
      expect(received.map(({ params, id: of }) => params?.progress ?? of)).toEqual([2, 9]);
      expect(JSON.parse(received[1]?.['result'].content[0].text)).toEqual({ through: key, replica: began });
      // The whole stream is still there for a client that lost it, whichever replica it asks.
      for (let at = 0; at < 3; at++) expect(await rest(await session.resume(String(id)))).toEqual(received);
    });

    test('is ended by DELETE for all replicas, with its calls and streams', async () => {
      const session = await open(revision);
      const key = freshKey();
      const standing = await session.get();
      const events = await session.stream('tools/call', call('long', { key }), 9);
      await next(events);
      const began = await untilRecorded(replicas, 'long', { key });
      expect((await session.end()).status).toBe(200);
      expect(await untilRecorded(replicas, 'aborted', { name: 'long' })).toBe(began);
      await events.rest();
      await standing.rest();
      let known = 0;
      await until('all replicas know the end', async () => {
        known = (await session.request('ping')).status === 404 ? known + 1 : 0;
        return known === 3;
      });
      for (let at = 0; at < 3; at++) expect((await session.get()).status).toBe(404);
    });

    test('has one log level at all replicas', async () => {
      const session = await open(revision);
      const levels = async (): Promise<unknown[]> =>
        (await rest(await session.stream('tools/call', call('talk'))))
          .filter(({ method }) => method === 'notifications/message')
          .map(({ params }) => params.level);
      for (const [level, expected] of [
        ['error', ['error']],
        ['debug', ['debug', 'info', 'error']],
      ] as const) {
        // All replicas know the session, so that none of them has to look it up.
        for (let at = 0; at < 3; at++) await session.request('ping');
        await session.request('logging/setLevel', { level });
        // The other replicas hear of it over the bus, a few milliseconds later on a busy machine.
        let known = 0;
        await until('all replicas know the level', async () => {
          known = JSON.stringify(await levels()) === JSON.stringify(expected) ? known + 1 : 0;
          return known === 3;
        });
      }
    });

    test('hears at one replica of changes that it subscribed to at another and that a third one announces', async () => {
      const session = await open(revision);
      for (let at = 0; at < 3; at++) await session.request('ping');
      const standing = await session.get();
      const touch = (uri: string) => session.request('tools/call', call('touch', { uri }));
      for (let at = 0; at < 3; at++) {
        const uri = `work://${freshKey()}`;
        const update = { method: 'notifications/resources/updated', params: { uri } };
        await session.request('resources/subscribe', { uri });
        // The replica with the stream heard of the subscription from another one, so it may have missed a change.
        expect((await next(standing)).message).toMatchObject(update);
        await touch('work://other');
        await touch(uri);
        expect((await next(standing)).message).toMatchObject(update);
        await session.request('resources/unsubscribe', { uri });
        await touch(uri);
        await session.request('tools/call', call('grow'));
        const kinds = [];
        for (let kind = 0; kind < 3; kind++) kinds.push((await next(standing)).message['method']);
        expect(kinds.sort()).toEqual([
          'notifications/prompts/list_changed',
          'notifications/resources/list_changed',
          'notifications/tools/list_changed',
        ]);
      }
      standing.drop();
    });

    test('runs no further step of a call after it was cancelled at another replica', async () => {
      const session = await open(revision);
      const key = freshKey();
      const calling = session.request('tools/call', call('newsletter', { key }), 5);
      const began = await untilRecorded(replicas, 'mail', { reader: 1 });
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } };
      await session.post(cancel);
      expect(await untilRecorded(replicas, 'aborted', { name: 'newsletter' })).toBe(began);
      await session.request('tools/call', call('open', { key }), 6);
      await untilRecorded(replicas, 'done');
      await calling;
      expect(
        replicas()
          .entries('mail')
          .map(({ reader }) => reader),
      ).toEqual([1]);
    });

    test('aborts a call whose connection breaks before it streams, and lets its id be used at another replica', async () => {
      const session = await open(revision);
      const key = freshKey();
      const controller = new AbortController();
      const lost = fetch(replicas().url('work'), {
        method: 'POST',
        headers: session.headers,
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 5,
          method: 'tools/call',
          params: { name: 'hang', arguments: { key } },
        }),
        signal: controller.signal,
      }).catch(() => undefined);
      const began = await untilRecorded(replicas, 'hang', { key });
      controller.abort();
      await lost;
      expect(await untilRecorded(replicas, 'aborted', { name: 'hang' })).toBe(began);
      await until('the id is free', async () => {
        const { text } = await session.request('tools/call', { name: 'where' }, 5);
        return text.includes('replica');
      });
    });
  });
}
