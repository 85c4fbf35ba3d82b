import { expect, test } from 'vitest';
import { recalledLink } from '../../../../src/connect/open/recalled-link.js';
import type { Call, Outcome } from '../../../../src/protocol/call.js';
import { McpError } from '../../../../src/protocol/errors.js';
import type { Link } from '../../../../src/protocol/link.js';

const refusal = new McpError('unsupported_version', 'Not this one');
const call = (method: string): Call => ({ method }) as Call;

/** A link that returns the name of the call, or leaves the call open until the test ends it. */
function fakeLink(name: string, dispatch?: Link['dispatch']) {
  const open = new Set<(error: McpError) => void>();
  const link = {
    closes: 0,
    refuseAll: () => {
      for (const reject of open) reject(refusal);
    },
    revision: '2026-07-28',
    transport: name,
    discovered: { supportedVersions: [], capabilities: {} },
    dispatch: dispatch ?? (() => new Promise<Outcome>((_, reject) => open.add(reject))),
    close: async () => {
      link.closes++;
      for (const reject of open) reject(new McpError('connection_closed', name));
    },
  } as const satisfies Link & Record<string, unknown> as Link & { closes: number; refuseAll: () => void };
  return link;
}

test('a call that is rejected after the link was replaced is sent again too', async () => {
  const second = fakeLink('second', async ({ method }) => ({ resultType: 'complete', method }));
  const first = fakeLink('first');
  const link = recalledLink(
    { ...first, dispatch: (call) => (call.method === 'a' ? Promise.reject(refusal) : first.dispatch(call)) },
    { reopen: async () => second, timeoutMs: 1000 },
  );
  const b = link.dispatch(call('b'));
  expect(await link.dispatch(call('a'))).toMatchObject({ method: 'a' });
  expect(link.transport).toBe('second');
  expect(first.closes).toBe(0);
  first.refuseAll();
  expect(await b).toMatchObject({ method: 'b' });
  expect(first.closes).toBe(1);
});

test('a recalled link has the traits of the link that replaced it', async () => {
  const second = {
    ...fakeLink('second', async () => ({ resultType: 'complete' })),
    reportsChanges: true,
    filtersSubscriptions: true,
    expectsRootChanges: true,
  };
  const link = recalledLink(
    fakeLink('first', () => Promise.reject(refusal)),
    { reopen: async () => second, timeoutMs: 1000 },
  );
  expect(link.filtersSubscriptions).toBeUndefined();
  await link.dispatch(call('a'));
  const { reportsChanges, filtersSubscriptions, expectsRootChanges } = link;
  expect([reportsChanges, filtersSubscriptions, expectsRootChanges]).toEqual([true, true, true]);
});

test('the next call reopens the link if it could not be reopened before', async () => {
  const second = fakeLink('second', async () => ({ resultType: 'complete' }));
  let reopens = 0;
  const link = recalledLink(
    fakeLink('first', () => Promise.reject(refusal)),
    {
      timeoutMs: 1000,
      async reopen() {
        if (++reopens === 1) throw new McpError('connect_failed', 'Not now');
        return second;
      },
    },
  );
  await expect(link.dispatch(call('a'))).rejects.toMatchObject({ code: 'connect_failed' });
  expect(await link.dispatch(call('a'))).toEqual({ resultType: 'complete' });
  expect(reopens).toBe(2);
});

test('a rejection after a success does not reopen the link', async () => {
  const outcomes: (() => Promise<Outcome>)[] = [
    async () => ({ resultType: 'complete' }),
    () => Promise.reject(refusal),
  ];
  const first = fakeLink('first', () => (outcomes.shift() as () => Promise<Outcome>)());
  const link = recalledLink(first, { reopen: () => Promise.reject(new Error('asked')), timeoutMs: 1000 });
  await link.dispatch(call('a'));
  await expect(link.dispatch(call('a'))).rejects.toBe(refusal);
});

test('reopening has a time limit, and ends when the link is closed', async () => {
  const reopen = (signal: AbortSignal): Promise<Link> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const first = (): Link => fakeLink('first', () => Promise.reject(refusal));
  const late = recalledLink(first(), { reopen, timeoutMs: 10 });
  await expect(late.dispatch(call('a'))).rejects.toMatchObject({ code: 'timeout' });
  const closed = recalledLink(first(), { reopen, timeoutMs: 60_000 });
  const pending = closed.dispatch(call('a'));
  pending.catch(() => undefined);
  await new Promise(setImmediate);
  await closed.close();
  await expect(pending).rejects.toMatchObject({ code: 'connection_closed' });
});
