import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { McpError } from '../../../../src/protocol/errors.js';
import {
  exchangeEvents,
  exchangeOnMemory,
  note,
  type RecordedExchange,
  result,
  turn,
} from '../../../support/wires/memory-wire.js';

const messages = ({ problems }: RecordedExchange): string[] => problems.map(({ message }) => message);

describe('requests over a wire', () => {
  test('get ids of their own, from 1 on, and responses find them in any order', async () => {
    const { wire, ask, events } = exchangeOnMemory();
    const answers = Promise.all([ask('a', { params: { x: 1 } }), ask('b'), ask('c')]);
    expect(wire.sent).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'a', params: { x: 1 } },
      { jsonrpc: '2.0', id: 2, method: 'b' },
      { jsonrpc: '2.0', id: 3, method: 'c' },
    ]);
    wire.arrive(result(3, { for: 'c' }), [result(1, { for: 'a' }), result('2', { for: 'b' })]);
    expect(await answers).toEqual([{ for: 'a' }, { for: 'b' }, { for: 'c' }]);
    expect(events.problems).toEqual([]);
  });

  test('fail with the error of the peer', async () => {
    const { wire, ask } = exchangeOnMemory();
    const answer = ask('a');
    wire.arrive({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32601, message: 'No such method', data: { a: 1 } },
    });
    await expect(answer).rejects.toMatchObject({
      code: 'method_not_found',
      message: 'No such method',
      number: -32601,
      data: { a: 1 },
    });
  });

  test.each([
    ['a result that is not an object', result(1, 'text'), /"result" must be an object/],
    ['no version', { id: 1, result: {} }, /"jsonrpc" must be "2.0"/],
    ['an error without a code', { jsonrpc: '2.0', id: 1, error: {} }, /integer "code"/],
    [
      'too deep',
      `{"jsonrpc":"2.0","id":1,"result":{"a":${'['.repeat(500)}${']'.repeat(500)}}}`,
      /nests deeper/,
    ],
  ])('fail if their response cannot be read: %s', async (_, answer, why) => {
    const { wire, ask, events } = exchangeOnMemory();
    const response = ask('a');
    wire.arrive(answer);
    await expect(response).rejects.toMatchObject({
      code: 'bad_response',
      message: expect.stringMatching(why),
    });
    expect(events.problems).toEqual([]);
  });

  test('whose parameters are not JSON fail without being sent', async () => {
    const { ask, wire } = exchangeOnMemory();
    await expect(ask('a', { params: { big: 1n } })).rejects.toMatchObject({ code: 'invalid_params' });
    expect(wire.sent).toEqual([]);
  });
});

describe('an unexpected message is reported and does no harm:', () => {
  test.each([
    ['not JSON', '{"jsonrpc":', /not valid JSON: "\{\\"jsonrpc/],
    ['a response with an unknown id', result(7), /not open, or answered it twice: id "7"/],
    ['a response with an id that was never used', result('x'), /not open/],
    [
      'an error without an id',
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'what?' } },
      /"what\?"/,
    ],
    ['null', 'null', /must be a JSON object/],
    ['a number in a batch', [1], /must be a JSON object/],
  ])('it is %s', async (_, message, report) => {
    const { wire, ask, events } = exchangeOnMemory();
    const response = ask('a');
    wire.arrive(message, result(1));
    await response;
    expect(messages(events)).toEqual([expect.stringMatching(report)]);
  });

  test('it is a duplicate response', async () => {
    const { wire, ask, events } = exchangeOnMemory();
    const response = ask('a');
    wire.arrive(result(1, { first: true }), result(1, { first: false }));
    expect(await response).toEqual({ first: true });
    expect(messages(events)).toEqual([expect.stringContaining('answered it twice')]);
  });

  test('of a thousand, the first ten are reported, and then that there are more', () => {
    const { wire, events } = exchangeOnMemory();
    for (let id = 0; id < 1000; id++) wire.arrive(result(id));
    expect(events.problems).toHaveLength(11);
  });

  test('it is a notification whose listener throws', async () => {
    const { wire, ask, events } = exchangeOnMemory();
    const failure = new Error('a listener fails');
    const response = ask('a', {
      params: { _meta: { progressToken: 1 } },
      onNotification: () => {
        throw failure;
      },
    });
    wire.arrive(note('notifications/progress', { progressToken: 1, progress: 1 }), result(1));
    await response;
    expect(events.problems).toEqual([{ message: expect.any(String), cause: failure }]);
  });
});

describe('notifications over a wire', () => {
  test('of progress reach their request, under the token that it chose', async () => {
    const { wire, ask, events } = exchangeOnMemory();
    const received: unknown[] = [];
    const onNotification = (method: string, params: unknown): unknown => received.push([method, params]);
    const response = ask('a', {
      params: { x: 1, _meta: { progressToken: 'mine', other: 2 } },
      onNotification,
    });
    const silent = ask('b', { onNotification });
    expect(wire.sent[0]?.['params']).toEqual({ x: 1, _meta: { progressToken: 1, other: 2 } });
    const progress = (token: unknown): object =>
      note('notifications/progress', { progressToken: token, progress: 5 });
    wire.arrive(progress(1), progress('1'), progress(2), progress('mine'), result(1), progress(1), result(2));
    await Promise.all([response, silent]);
    expect(received).toEqual([
      ['notifications/progress', { progressToken: 'mine', progress: 5 }],
      ['notifications/progress', { progressToken: 'mine', progress: 5 }],
    ]);
    expect(events.notifications).toEqual([]);
  });

  test('of a subscription reach only its request, and those without one reach the listener', async () => {
    const { wire, ask, events } = exchangeOnMemory();
    const methods: unknown[] = [];
    const response = ask('subscriptions/listen', { onNotification: (method) => methods.push(method) });
    const tagged = (id: number): object => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } });
    wire.arrive(
      note('notifications/tools/list_changed', tagged(1)),
      note('notifications/prompts/list_changed', tagged(2)),
      note('notifications/message', { level: 'info', data: 'x' }),
      note('notifications/odd'),
      result(1),
      note('notifications/tools/list_changed', tagged(1)),
    );
    await response;
    expect(methods).toEqual(['notifications/tools/list_changed']);
    expect(events.notifications).toEqual([
      ['notifications/message', { level: 'info', data: 'x' }],
      ['notifications/odd', undefined],
    ]);
  });

  test('are sent without an id', () => {
    const { wire, exchange } = exchangeOnMemory();
    exchange.notify('notifications/initialized');
    exchange.notify('notifications/x', { a: 1 });
    expect(wire.sent).toEqual([
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/x', params: { a: 1 } },
    ]);
  });

  test('reach the listener that was registered last', () => {
    const { wire, exchange, events } = exchangeOnMemory();
    const later = exchangeEvents();
    wire.arrive(note('one'));
    exchange.listen(later);
    wire.arrive(note('two'));
    expect([events.notifications, later.notifications]).toEqual([[['one', undefined]], [['two', undefined]]]);
  });
});

test('every request settles exactly once, whatever arrives in whatever order', async () => {
  const id = fc.integer({ min: 0, max: 12 });
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), cancelled: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), id }) },
    fc.record({ do: fc.constant('fail' as const), id }),
    fc.record({ do: fc.constant('cancel' as const), id }),
    fc.record({ do: fc.constant('garbage' as const), text: fc.oneof(fc.string(), fc.json()) }),
    fc.record({ do: fc.constant('peer cancels' as const), id }),
    fc.record({ do: fc.constant('turn' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { wire, ask, exchange } = exchangeOnMemory(async () => ({}));
      const controllers: AbortController[] = [];
      const settled: number[] = [];
      const expected: unknown[] = [];
      for (const one of steps) {
        if (one.do === 'ask') {
          const at = controllers.push(new AbortController()) - 1;
          settled[at] = 0;
          const method = one.cancelled ? 'subscriptions/listen' : 'tools/call';
          const { signal } = controllers[at] as AbortController;
          const done = (value: unknown): void => {
            settled[at] = (settled[at] as number) + 1;
            if (!McpError.is(value)) expected.push([(value as JsonObject)['for'], at + 1]);
          };
          void ask(method, { signal }).then(done, done);
        } else if (one.do === 'answer') wire.arrive(result(one.id, { for: one.id }));
        else if (one.do === 'fail')
          wire.arrive({ jsonrpc: '2.0', id: one.id, error: { code: 1, message: '' } });
        else if (one.do === 'cancel') controllers[one.id - 1]?.abort();
        else if (one.do === 'garbage') wire.arrive(one.text);
        else if (one.do === 'peer cancels')
          wire.arrive(note('notifications/cancelled', { requestId: one.id }));
        else await turn();
      }
      await exchange.close();
      await turn();
      expect(settled.every((times) => times === 1)).toBe(true);
      for (const [responseId, requestId] of expected as [number, number][])
        expect(responseId).toBe(requestId);
    }),
    { numRuns: 300 },
  );
});
