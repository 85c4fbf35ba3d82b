import { getEventListeners } from 'node:events';
import type { Auth, Call, Dispatch, Outcome } from 'fullmcp';
import { McpError } from 'fullmcp';
import { type CacheOptions, cache } from 'fullmcp/middleware';
import { buildCall, toolResult } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';

// Calls at the same time, in front of a `Dispatch` that ends when the test says so.

const ada: Auth = { subject: 'ada', scopes: [], claims: {} };
const bob: Auth = { subject: 'bob', scopes: [], claims: {} };
const turn = () => new Promise((resolve) => setImmediate(resolve));

function held(options: Partial<CacheOptions> = {}) {
  const middleware = cache({ ttlMs: 60_000, ...options });
  const runs: { call: Call; end: (outcome: Outcome | Error) => void }[] = [];
  const next: Dispatch = (call) =>
    new Promise((resolve, reject) => {
      const end = (outcome: Outcome | Error) =>
        outcome instanceof Error ? reject(outcome) : resolve(outcome);
      runs.push({ call, end });
    });

  /** Makes a call, and waits until it runs or waits for another one. */
  async function start(overrides: Partial<Call> = {}, uri = 'a:1') {
    const controller = new AbortController();
    const call = buildCall('resources/read', { uri }, { auth: ada, signal: controller.signal, ...overrides });
    const state = { text: '', error: undefined as unknown, leave: () => controller.abort('left') };
    middleware(call, next).then(
      (outcome) => {
        state.text = (outcome['content'] as { text: string }[] | undefined)?.[0]?.text ?? outcome.resultType;
      },
      (error: unknown) => {
        state.error = error;
      },
    );
    await turn();
    return state;
  }

  async function end(at: number, outcome: Outcome | Error) {
    runs[at]?.end(outcome);
    await turn();
  }
  return { start, end, runs };
}

const result = (text: string, extra: object = {}): Outcome => ({ ...toolResult(text), ...extra });

/** A call that wants progress, and what it is told. */
function wanting(token: string | number, extra: Partial<Call> = {}) {
  const told: unknown[] = [];
  const notify: Call['notify'] = (_, content) => told.push(content);
  return { told, call: { params: { uri: 'a:1', _meta: { progressToken: token } }, notify, ...extra } };
}
const report = (call: Call | undefined, progress: number, more: object = {}): void =>
  call?.notify('notifications/progress', { progressToken: 'one', progress, ...more });

describe('the same calls of one caller at the same time', () => {
  it('run once', async () => {
    const { start, end, runs } = held();
    const calls = await Promise.all([start(), start(), start(), start({}, 'a:2')]);
    expect(runs).toHaveLength(2);
    await end(0, result('first'));
    await end(1, result('second'));
    expect(calls.map(({ text }) => text)).toEqual(['first', 'first', 'first', 'second']);
  });

  it('share one listener of their signal if they share the signal, as the lists of a gateway do', async () => {
    const { start, end } = held();
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 6 }, () => start({ signal })));
    await Promise.all(Array.from({ length: 6 }, (_, at) => start({ signal }, `b:${at}`)));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    for (let at = 0; at < 7; at++) await end(at, result('done'));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('run again for the others if the caller that runs it leaves, even if its handler does not notice', async () => {
    const { start, end, runs } = held();
    const [first, second, third] = [await start(), await start(), await start()];
    first.leave();
    await turn();
    expect(runs).toHaveLength(2);
    await end(1, result('again'));
    expect([second.text, third.text]).toEqual(['again', 'again']);
    // The result of a call that was cancelled may be a part of it.
    await end(0, result('a part'));
    expect((await start()).text).toBe('again');
    expect(runs).toHaveLength(2);
  });

  it('do not keep the result of a call that was cancelled', async () => {
    const { start, end, runs } = held();
    const first = await start();
    first.leave();
    await end(0, result('a part'));
    await start();
    expect(runs).toHaveLength(2);
  });

  it('leave without a trace if one that waits is cancelled', async () => {
    const { start, end, runs } = held();
    const [first, second, third] = [await start(), await start(), await start()];
    second.leave();
    await turn();
    expect(McpError.is(second.error) && second.error.code).toBe('cancelled');
    expect(runs[0]?.call.signal.aborted).toBe(false);
    await end(0, result('done'));
    expect([first.text, third.text]).toEqual(['done', 'done']);
    expect(runs).toHaveLength(1);
  });

  it('fail together, and the next one tries again', async () => {
    const { start, end, runs } = held();
    const [first, second] = [await start(), await start()];
    await end(0, new McpError('overloaded', 'Busy'));
    expect([first.error, second.error].map((error) => (error as McpError).code)).toEqual([
      'overloaded',
      'overloaded',
    ]);
    await start();
    expect(runs).toHaveLength(2);
  });

  it.each([
    ['asks', { resultType: 'input_required', requestState: 'x' }],
    ['becomes a task', { resultType: 'task', task: {} }],
  ])('run one by one if the first one %s', async (_, outcome) => {
    const { start, end, runs } = held();
    const [first, second, third] = [await start(), await start(), await start()];
    await end(0, outcome as Outcome);
    expect(runs).toHaveLength(3);
    await end(1, result('second'));
    await end(2, result('third'));
    expect([first.text, second.text, third.text]).toEqual([outcome.resultType, 'second', 'third']);
  });

  it('run once if all want progress, and each is told about it with its own token', async () => {
    const { start, end, runs } = held();
    const [one, two] = [wanting('one'), wanting(2)];
    const calls = [await start(one.call), await start(two.call), await start()];
    expect(runs).toHaveLength(1);
    report(runs[0]?.call, 1, { total: 2, message: 'half' });
    expect(one.told).toEqual([{ progressToken: 'one', progress: 1, total: 2, message: 'half' }]);
    expect(two.told).toEqual([{ progressToken: 2, progress: 1, total: 2, message: 'half' }]);
    await end(0, result('done'));
    expect(calls.map(({ text }) => text)).toEqual(['done', 'done', 'done']);
  });

  it('wait for each other apart from those that want no progress, whose handler reports none', async () => {
    const { start, end, runs } = held();
    await start();
    const calls = [await start(wanting(1).call), await start(wanting(2).call)];
    expect(runs).toHaveLength(2);
    await end(1, result('reported'));
    expect(calls.map(({ text }) => text)).toEqual(['reported', 'reported']);
  });

  it('are told about growing progress only, although the run begins anew when its caller leaves', async () => {
    const { start, end, runs } = held();
    const [one, two] = [wanting('one'), wanting(2)];
    const first = await start(one.call);
    const second = await start(two.call);
    for (const value of [1, 2, 3]) report(runs[0]?.call, value);
    first.leave();
    await turn();
    expect(runs).toHaveLength(2);
    report(runs[0]?.call, 4);
    for (const value of [1, 2, 3, 4]) report(runs[1]?.call, value);
    expect(two.told).toMatchObject([1, 2, 3, 4].map((progress) => ({ progress })));
    await end(1, result('again'));
    expect(second.text).toBe('again');
  });

  it('are not told about progress after they have left', async () => {
    const { start, runs } = held();
    const two = wanting(2);
    await start(wanting('one').call);
    const second = await start(two.call);
    second.leave();
    report(runs[0]?.call, 1);
    await turn();
    report(runs[0]?.call, 2);
    expect(two.told).toEqual([]);
  });

  it('run for themselves if the first one has read a fact that differs', async () => {
    const { start, end, runs } = held();
    const from = (locale: string) => ({
      http: {
        header: (name: string) => (name === 'locale' ? locale : undefined),
        remoteAddress: '192.0.2.1',
      },
    });
    const [first, second, third] = [
      await start(from('de')),
      await start(from('en')),
      await start(from('de')),
    ];
    runs[0]?.call.http?.header('locale');
    await end(0, result('Hallo'));
    expect(runs).toHaveLength(2);
    await end(1, result('Hello'));
    expect([first.text, second.text, third.text]).toEqual(['Hallo', 'Hello', 'Hallo']);
  });

  it('are not joined by a call that comes after one that may have changed something', async () => {
    const middleware = cache({ ttlMs: 60_000 });
    const texts = ['before', 'after'];
    const ends: (() => void)[] = [];
    const next: Dispatch = ({ method }) =>
      new Promise((resolve) => {
        if (method === 'tools/call') return resolve(toolResult('bought'));
        const text = texts.shift() ?? 'later';
        ends.push(() => resolve(toolResult(text)));
      });
    const read = () => middleware(buildCall('resources/read', { uri: 'a:1' }, { auth: ada }), next);
    const early = read();
    await turn();
    await middleware(buildCall('tools/call', { name: 'buy' }, { auth: ada }), next);
    const late = read();
    await turn();
    for (const end of ends) end();
    expect([await early, await late].map((one) => (one['content'] as { text: string }[])[0]?.text)).toEqual([
      'before',
      'after',
    ]);
    expect((await read())['content']).toEqual((await late)['content']);
  });
});

describe('the same calls of several callers at the same time', () => {
  it('run for each caller, as long as the result may be private', async () => {
    const { start, end, runs } = held();
    const [one, other] = [await start(), await start({ auth: bob })];
    expect(runs).toHaveLength(2);
    await end(0, result("Ada's"));
    await end(1, result("Bob's"));
    expect([one.text, other.text]).toEqual(["Ada's", "Bob's"]);
  });

  it('run once if the result was public before, and for each caller if it no longer is', async () => {
    const { start, end, runs } = held();
    const anonymous = { auth: undefined };
    await start();
    await end(0, result('1', { cacheScope: 'public', ttlMs: 1 }));
    await new Promise((resolve) => setTimeout(resolve, 5));
    const three = [await start(), await start({ auth: bob }), await start(anonymous)];
    expect(runs).toHaveLength(2);
    await end(1, result('2', { cacheScope: 'public', ttlMs: 1 }));
    expect(three.map(({ text }) => text)).toEqual(['2', '2', '2']);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const mixed = [await start(), await start(), await start({ auth: bob }), await start(anonymous)];
    expect(runs).toHaveLength(3);
    await end(2, result("Ada's"));
    expect(runs).toHaveLength(5);
    await end(3, result("Bob's"));
    await end(4, result('of nobody'));
    expect(mixed.map(({ text }) => text)).toEqual(["Ada's", "Ada's", "Bob's", 'of nobody']);
  });

  it('are told that the run of another caller continues, without its numbers and its text', async () => {
    const { start, end, runs } = held();
    await start();
    await end(0, result('1', { cacheScope: 'public', ttlMs: 1 }));
    await new Promise((resolve) => setTimeout(resolve, 5));
    const [one, two] = [wanting('one'), wanting(2, { auth: bob })];
    await start(one.call);
    await start(two.call);
    expect(runs).toHaveLength(2);
    for (const done of [40, 50]) report(runs[1]?.call, done, { total: 57, message: "Ada's 57 letters" });
    expect(one.told).toHaveLength(2);
    expect(two.told).toEqual([
      { progressToken: 2, progress: 1 },
      { progressToken: 2, progress: 2 },
    ]);
  });

  it('do not get the error of another caller', async () => {
    const { start, end, runs } = held();
    await start();
    await end(0, result('1', { cacheScope: 'public', ttlMs: 1 }));
    await new Promise((resolve) => setTimeout(resolve, 5));
    const [one, other] = [await start(), await start({ auth: bob })];
    await end(1, new McpError('internal_error', 'The account of Ada is empty'));
    expect(one.error).toBeDefined();
    expect(other.error).toBeUndefined();
    expect(runs).toHaveLength(3);
  });
});
