import { describe, expect, test } from 'vitest';
import { until } from '../../../support/until.js';
import { checkRecovery, checkRejected, checkUnaffected, untilReadiness } from './checks.js';
import { engines } from './engines.js';
import { openWork } from './open-work.js';

// An engine that ends and starts again, while two replicas serve.

/** The lease is shorter than the outage. */
const env = { TIMEOUT_MS: '3000', LEASE_MS: '2000' };

describe.each(engines.filter(({ isStore }) => isStore))('an outage of $name', ({ start }) => {
  test.concurrent.each([
    ['an orderly restart', 'shutDown'],
    ['a crash', 'kill'],
  ] as const)(
    'after %s, replicas continue by themselves, and nothing is lost or doubled',
    async (_, end) => {
      const engine = await start();
      try {
        await using work = await openWork({ ...env, ENGINE_URL: engine.urlAt(engine.port) });
        await engine[end]();
        await untilReadiness(work, 503);
        await checkUnaffected(work);
        // The step ends while its result cannot be recorded.
        work.finishStep();
        await checkRejected(work);
        await engine.start();
        await checkRecovery(work);
      } finally {
        await engine.remove();
      }
    },
    120_000,
  );
});

describe.each(engines.filter(({ isStore }) => !isStore))('an outage of $name', ({ start }) => {
  test.concurrent.each([
    ['an orderly restart', 'shutDown'],
    ['a crash', 'kill'],
  ] as const)(
    'after %s, replicas hear of each other again, and streams can be resumed',
    async (_, end) => {
      const engine = await start();
      try {
        await using work = await openWork({ ...env, ENGINE_URL: engine.urlAt(engine.port) });
        await engine[end]();
        await untilReadiness(work, 503);
        await checkUnaffected(work);
        const { atA, atB, session, job, finishStep, changes } = work;
        // Tasks and idempotency keys are in the store, which is available.
        const paid = await atA.callTool('pay', { id: 'during' }, { idempotencyKey: 'during' });
        const again = await atB.callTool('pay', { id: 'during' }, { idempotencyKey: 'during' });
        expect(again.data).toEqual(paid.data);
        finishStep();
        await until('the job has ended', async () => (await job.status()).status === 'completed');
        // A question is asked only if the response to it will be found.
        const ask = { name: 'ask', arguments: { id: 'during' } };
        const asking = await session.a.request('tools/call', ask, 'during');
        expect(asking.text).toContain('The client could not be asked');
        expect(asking.text).not.toContain('elicitation/create');
        expect(changes).toEqual([]);
        await engine.start();
        await checkRecovery(work);
      } finally {
        await engine.remove();
      }
    },
    120_000,
  );
});
