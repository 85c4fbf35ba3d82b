import { describe, expect, test } from 'vitest';
import { checkRecovery, checkRejected, checkUnaffected, untilReadiness } from './checks.js';
import { engines } from './engines.js';
import { openWork } from './open-work.js';
import { TcpProxy } from './tcp-proxy.js';

// An engine that accepts connections and commands and does not reply, or replies late, while two replicas serve.

describe.each(engines)('$name', ({ start, isStore }) => {
  test.concurrent('that never replies fails the calls that need it in bounded time, and replicas continue when it replies', async () => {
    const engine = await start();
    const proxy = new TcpProxy(engine.port);
    try {
      const url = engine.urlAt(await proxy.listen());
      await using work = await openWork({ ENGINE_URL: url, TIMEOUT_MS: '1500', LEASE_MS: '3000' });
      proxy.delay(Number.POSITIVE_INFINITY);
      await untilReadiness(work, 503);
      await checkUnaffected(work);
      work.finishStep();
      if (isStore) await checkRejected(work);
      proxy.delay(0);
      await checkRecovery(work);
    } finally {
      await proxy.close();
      await engine.remove();
    }
  }, 120_000);

  test.concurrent('that takes 2 s for each reply makes the replicas not ready, and everything slow', async () => {
    const engine = await start();
    const proxy = new TcpProxy(engine.port);
    try {
      const url = engine.urlAt(await proxy.listen());
      await using work = await openWork({ ENGINE_URL: url, TIMEOUT_MS: '10000', LEASE_MS: '15000' });
      proxy.delay(2000);
      await untilReadiness(work, 503);
      await checkUnaffected(work);
      const paying = work.atA.callTool('pay', { id: 'during' }, { idempotencyKey: 'during' });
      const { data } = await work.atA.startTool('job', { id: 'slow' }).then(async (task) => {
        work.finishStep();
        return task.result();
      });
      expect(data).toMatchObject({ job: 'slow' });
      expect((await paying).data).toMatchObject({ payment: 'during' });
      proxy.delay(0);
      await checkRecovery(work, { hasGap: false });
    } finally {
      await proxy.close();
      await engine.remove();
    }
  }, 120_000);
});
