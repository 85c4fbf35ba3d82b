import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ExchangedTokens } from '../../../../src/oauth/forwarding/exchanged-tokens.js';
import { McpError } from '../../../../src/protocol/errors.js';

// How long exchanged tokens are used, and how many are kept.

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const { signal } = new AbortController();

function setUp({ lifetimeMs, maxCallers = 10 }: { lifetimeMs?: number; maxCallers?: number } = {}) {
  const asked: string[] = [];
  const tokens = new ExchangedTokens({
    async exchange(token) {
      asked.push(token);
      return { token: `for ${token} ${asked.length}`, lifetimeMs };
    },
    maxCallers,
    log: () => undefined,
  });
  const use = async (name: string, expiresAt?: number) =>
    (await tokens.headersFor({ key: name, token: name, expiresAt }, signal)).authorization;
  return { asked, tokens, use };
}

test('a token is used until 30 s before it expires', async () => {
  const { asked, use } = setUp({ lifetimeMs: 600_000 });
  await use('ada');
  vi.advanceTimersByTime(569_000);
  expect(await use('ada')).toBe('Bearer for ada 1');
  vi.advanceTimersByTime(1000);
  expect(await use('ada')).toBe('Bearer for ada 2');
  expect(asked).toEqual(['ada', 'ada']);
});

test('a token that is valid for a few seconds is cached for most of them, and one that has expired is not', async () => {
  const short = setUp({ lifetimeMs: 1000 });
  await short.use('ada');
  vi.advanceTimersByTime(899);
  expect(await short.use('ada')).toBe('Bearer for ada 1');
  const over = setUp({ lifetimeMs: 0 });
  await over.use('ada');
  expect(await over.use('ada')).toBe('Bearer for ada 2');
});

test('a token whose end is not known is exchanged again after a minute, and a long one after an hour', async () => {
  const unknown = setUp();
  await unknown.use('ada');
  vi.advanceTimersByTime(60_000);
  expect(await unknown.use('ada')).toBe('Bearer for ada 2');
  const long = setUp({ lifetimeMs: Number.MAX_SAFE_INTEGER });
  await long.use('ada');
  vi.advanceTimersByTime(3_600_000);
  expect(await long.use('ada')).toBe('Bearer for ada 2');
});

test('an exchanged token is not used after the token of its caller has expired', async () => {
  const { asked, use } = setUp({ lifetimeMs: 600_000 });
  const expiresAt = Date.now() + 10_000;
  await use('ada', expiresAt);
  vi.advanceTimersByTime(10_000);
  await expect(use('ada', expiresAt)).rejects.toMatchObject({ code: 'unauthorized' });
  expect(asked).toHaveLength(1);
});

test('a clock that is set back does not let a token live longer', async () => {
  const { use } = setUp({ lifetimeMs: 600_000 });
  await use('ada');
  vi.setSystemTime(Date.now() - 86_400_000);
  vi.advanceTimersByTime(600_000);
  expect(await use('ada')).toBe('Bearer for ada 2');
});

test('the number of cached tokens is bounded, and no caller ever gets the token of another one', async () => {
  const { asked, use } = setUp({ lifetimeMs: 600_000, maxCallers: 10 });
  const names = Array.from({ length: 100 }, (_, at) => `caller${at}`);
  for (const name of names) expect(await use(name)).toContain(`for ${name} `);
  for (const name of names.slice(-10)) await use(name);
  expect(asked).toHaveLength(100);
  await use('caller0');
  expect(asked).toHaveLength(101);
});

test('at most 500 tokens are exchanged at a time', async () => {
  const stop = new AbortController();
  const tokens = new ExchangedTokens({
    exchange: () => new Promise(() => undefined),
    maxCallers: 10,
    log: () => undefined,
  });
  const use = (key: string) => tokens.headersFor({ key, token: key, expiresAt: undefined }, stop.signal);
  const waiting = Array.from({ length: 500 }, (_, at) => use(`caller${at}`));
  await expect(use('one more')).rejects.toMatchObject({ code: 'overloaded' });
  stop.abort(new McpError('cancelled', 'Over.'));
  expect((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected')).toBe(true);
});
