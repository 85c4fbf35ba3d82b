import { describe, expect, test } from 'vitest';
import { type EventReceiver, type ReceiverOptions, receiver } from '../../../../../src/events.js';
import { occurrence } from '../../../../support/events/event-server.js';
import { OTHER_SECRET, SECRET, type Sent, webhook } from '../../../../support/events/sender.js';
import { until } from '../../../../support/until.js';

interface Seen {
  readonly hooks: EventReceiver;
  readonly events: string[];
  readonly gaps: unknown[];
  readonly ends: unknown[];
  readonly problems: string[];
  /** Sends a webhook; resolves with the status of the reply. */
  readonly send: (body: unknown, sent?: Sent) => Promise<number>;
}

/** A receiver with a secret that the program has named, so that it needs no server. */
function seeing(options: Partial<ReceiverOptions> = {}): Seen {
  const events: string[] = [];
  const gaps: unknown[] = [];
  const ends: unknown[] = [];
  const problems: string[] = [];
  const hooks = receiver({
    secret: SECRET,
    onEvent: ({ eventId }) => void events.push(eventId),
    onGap: (cursor) => void gaps.push(cursor),
    onTerminated: ({ number }) => void ends.push(number),
    onProblem: ({ message }) => void problems.push(message),
    ...options,
  });
  const send = async (body: unknown, sent?: Sent): Promise<number> =>
    (await hooks(await webhook(body, sent))).status;
  return { hooks, events, gaps, ends, problems, send };
}

describe('a receiver', () => {
  test('passes an event on once, however often and however quickly it is sent', async () => {
    const { send, events } = seeing();
    const sending = [1, 2, 3].map(() => send(occurrence('evt_1')));
    expect(await Promise.all(sending)).toEqual([204, 204, 204]);
    expect(await send(occurrence('evt_1'))).toBe(204);
    expect(await send(occurrence('evt_1'), { subscription: 'sub_2' })).toBe(204);
    expect(await send(occurrence('evt_2', { cursor: undefined, _meta: { a: 1 } }))).toBe(204);
    expect(events).toEqual(['evt_1', 'evt_1', 'evt_2']);
  });

  test('returns a challenge without telling the program', async () => {
    const { hooks, events } = seeing();
    const reply = await hooks(await webhook({ type: 'verification', challenge: 'q7mUf3_N8ynI1z08hgXepw' }));
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({ challenge: 'q7mUf3_N8ynI1z08hgXepw' });
    expect(events).toEqual([]);
  });

  test('tells of gaps and of the end', async () => {
    const { send, gaps, ends } = seeing();
    expect(await send({ type: 'gap', cursor: 'c9' })).toBe(204);
    expect(await send({ type: 'terminated', error: { code: -32011, message: 'gone' } })).toBe(204);
    expect([gaps, ends]).toEqual([['c9'], [-32011]]);
  });

  test('accepts several signatures in any order, and signatures of another kind beside them', async () => {
    const { send, events } = seeing({ secret: [OTHER_SECRET, SECRET] });
    expect(await send(occurrence('1'), { secrets: [OTHER_SECRET, SECRET] })).toBe(204);
    expect(await send(occurrence('2'), { secrets: [SECRET, OTHER_SECRET] })).toBe(204);
    expect(await send(occurrence('3'), { secrets: [OTHER_SECRET] })).toBe(204);
    const signed = (await webhook(occurrence('4'))).headers.get('webhook-signature');
    expect(await send(occurrence('4'), { headers: { 'webhook-signature': `v1a,AAAA ${signed}` } })).toBe(204);
    expect(await send(occurrence('5'), { headers: { 'webhook-signature': 'v1a,AAAA' } })).toBe(401);
    expect(events).toEqual(['1', '2', '3', '4']);
  });

  const big = 'x'.repeat(262_144);
  test.each<[string, number, unknown, Sent]>([
    ['another secret', 401, occurrence('1'), { secrets: [OTHER_SECRET] }],
    ['another body than was signed', 401, occurrence('1'), { sentBody: JSON.stringify(occurrence('2')) }],
    ['bytes that are not text', 401, occurrence('1'), { sentBody: Uint8Array.of(123, 0xff, 0xfe, 125) }],
    ['an old message', 401, occurrence('1'), { offsetS: -302 }],
    ['a message from the future', 401, occurrence('1'), { offsetS: 302 }],
    ['no timestamp', 401, occurrence('1'), { headers: { 'webhook-timestamp': undefined } }],
    ['a timestamp in words', 401, occurrence('1'), { headers: { 'webhook-timestamp': 'now' } }],
    ['no signature', 401, occurrence('1'), { headers: { 'webhook-signature': undefined } }],
    ['no id', 401, occurrence('1'), { headers: { 'webhook-id': undefined } }],
    ['no subscription', 401, occurrence('1'), { headers: { 'x-mcp-subscription-id': undefined } }],
    ['GET', 405, '', { method: 'GET' }],
    ['PUT', 405, occurrence('1'), { method: 'PUT' }],
    ['text', 415, occurrence('1'), { headers: { 'content-type': 'text/plain' } }],
    [
      'JSON with a charset',
      204,
      occurrence('1'),
      { headers: { 'content-type': 'application/json; charset=utf-8' } },
    ],
    ['a body of more than 256 KiB', 413, occurrence('1', { data: { big } }), {}],
    ['a length that is a lie', 413, occurrence('1'), { headers: { 'content-length': '262145' } }],
    ['something other than JSON', 400, 'no', {}],
    ['an array', 400, [occurrence('1')], {}],
    ['deep nesting', 400, `${'['.repeat(1000)}${']'.repeat(1000)}`, {}],
    ['another id than that of the event', 400, occurrence('1'), { id: 'evt_other' }],
    ['data that is not an object', 400, occurrence('1', { data: [] }), {}],
    ['a time without a zone', 400, occurrence('1', { timestamp: '2026-10-26T07:33:19' }), {}],
    ['an envelope of an unknown type', 400, { type: 'surprise' }, {}],
    ['a gap without a cursor', 400, { type: 'gap', cursor: null }, {}],
    ['an end without an error', 400, { type: 'terminated' }, {}],
    ['a challenge that is not a string', 400, { type: 'verification', challenge: 7 }, {}],
  ])('replies to %s with %i', async (_, status, body, sent) => {
    const { send, events } = seeing();
    expect(await send(body, sent)).toBe(status);
    expect(events).toEqual(status === 204 ? ['1'] : []);
  });

  test('replies with 503 when the program fails, and passes the event on again', async () => {
    let attempts = 0;
    const { send, problems } = seeing({
      onEvent() {
        attempts++;
        if (attempts === 1) throw new Error('the database is down');
      },
    });
    expect(await send(occurrence('1'))).toBe(503);
    expect(await send(occurrence('1'))).toBe(204);
    expect(attempts).toBe(2);
    expect(problems).toHaveLength(1);
  });

  test('without secret and without subscription, accepts nothing', async () => {
    const hooks = receiver({ onEvent: () => {} });
    expect((await hooks(await webhook(occurrence('1')))).status).toBe(401);
    const url = 'https://app.example/hooks?mcp_event_subscription=AAAAAAAAAAAAAAAAAAAAAA';
    expect((await hooks(await webhook(occurrence('1'), { url }))).status).toBe(401);
  });

  test('refuses options that it cannot use', () => {
    expect(() => receiver({ onEvent: () => {}, secret: 'short' })).toThrow('whsec_');
    expect(() => receiver({} as never)).toThrow('onEvent');
    expect(() => receiver({ onEvent: () => {}, on: 1 } as never)).toThrow('"on"');
  });

  test('does not let a flood of messages that the program is slow to accept grow without bound', async () => {
    const { send, events } = seeing({ onEvent: () => new Promise(() => {}) });
    const requests = await Promise.all(Array.from({ length: 1001 }, (_, n) => webhook(occurrence(`${n}`))));
    const { hooks } = seeing({ onEvent: () => new Promise(() => {}) });
    const replies = requests.map((request) => hooks(request));
    expect((await (replies.at(-1) as Promise<Response>)).status).toBe(503);
    expect(await send('no')).toBe(400);
    expect(events).toEqual([]);
  });

  test('confirms an event on the next attempt if the program took too long for the first', async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let count = 0;
    const { send } = seeing({
      async onEvent() {
        count++;
        await held;
      },
    });
    const first = send(occurrence('1'));
    await until('the program has it', () => count === 1);
    release();
    expect(await first).toBe(204);
    expect(await send(occurrence('1'))).toBe(204);
    expect(count).toBe(1);
  });
});
