import { expect, onTestFinished, test } from 'vitest';
import { GuardedLog } from '../../../../../src/legacy/server/http/guarded-log.js';
import { SessionCalls, type SessionCallsParts } from '../../../../../src/legacy/server/http/session-calls.js';
import type { SessionTable } from '../../../../../src/legacy/server/http/session-table.js';
import { runKey, type StreamingCall } from '../../../../../src/legacy/server/shared/call-record.js';
import type { SessionDirectory } from '../../../../../src/legacy/server/shared/session-directory.js';
import type { Dispatch } from '../../../../../src/protocol/call.js';
import { memoryEventLog } from '../../../../../src/state/memory/event-log.js';
import { memoryStore } from '../../../../../src/state/memory/store.js';
import type { Store, StoreChange } from '../../../../../src/state/store.js';
import { InFlight } from '../../../../../src/transports/http/server/in-flight.js';
import { until } from '../../../../support/until.js';

const KEY = runKey('tag', 'c0ffee');

// A call that a process which died had served, and that any other process can serve again.
const running: StreamingCall = {
  ...{ stream: 'tag.p1', ids: [7], isBatch: false, revision: '2025-11-25' },
  again: {
    request: { id: 7, method: 'tasks/result', params: { taskId: '1' } },
    handshake: { revision: '2025-11-25', client: { name: 'test', version: '1' }, capabilities: {} },
    auth: undefined,
  },
};

/** The changes that a process has left behind. */
const dead: readonly StoreChange[] = [
  { do: 'put', key: KEY, value: { ...running } as never },
  { do: 'enqueue', queue: 'call:test', key: 'tag:run:c0ffee' },
];

/** Starts a process that takes over the calls of those that have died. */
function watch(parts: Pick<SessionCallsParts, 'dispatch' | 'store' | 'warn'>): void {
  const calls = new SessionCalls({
    ...{ ...parts, server: 'test', askMs: 60_000, leaseMs: 60, log: new GuardedLog(memoryEventLog()) },
    inFlight: new InFlight(60_000),
    directory: { isShared: true, topic: { subscribe: () => undefined } } as unknown as SessionDirectory,
    table: { get: () => undefined } as unknown as SessionTable,
  });
  onTestFinished(() => calls.close([]));
  calls.start();
}

test('a call that cannot be recorded when it is taken over stays with its earlier record until it can', async () => {
  const inner = memoryStore();
  let failures = 0;
  const store = new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name !== 'write') return (target[name] as () => unknown).bind(target);
      return (...[changes, options]: Parameters<Store['write']>) => {
        const isRecord = changes.some((change) => change.do === 'put' && change.key.startsWith('running:'));
        if (!isRecord || failures === 2) return target.write(changes, options);
        failures++;
        return Promise.reject(new Error('The store did not reply'));
      };
    },
  });
  const recordsAtFailures: boolean[] = [];
  const served: string[] = [];
  const dispatch: Dispatch = async ({ method }) => {
    served.push(method);
    return { resultType: 'complete' };
  };
  const warn = async (): Promise<void> => {
    recordsAtFailures.push((await inner.get(KEY)) !== undefined);
  };
  await inner.write(dead);
  watch({ dispatch, store, warn });
  await until('the call is served', () => served.length > 0);
  expect(failures).toBe(2);
  expect(recordsAtFailures).not.toContain(false);
  await until('the earlier record is gone', async () => (await inner.get(KEY)) === undefined);
  // The request of this revision is served with this one of the newest.
  expect(served[0]).toBe('tasks/get');
});
