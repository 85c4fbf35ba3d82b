import { memoryEventLog } from 'fullmcp/http';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../../../../src/node.js';
import type { EventLog } from '../../../../../src/state/event-log.js';
import { attackedServer } from '../../../../support/http/attacked-server.js';
import { openSession } from '../../../../support/http/sessions.js';
import { until } from '../../../../support/until.js';

test('a stream that is resumed while its session ends is not opened any more', async () => {
  const { server, open } = attackedServer();
  const inner = memoryEventLog();
  let letThrough = (): void => undefined;
  let follows = 0;
  const through = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  const eventLog: EventLog = {
    append: (...args) => inner.append(...args),
    async follow(...args) {
      follows++;
      const followed = await inner.follow(...args);
      await through;
      return followed;
    },
    drop: (stream) => inner.drop(stream),
    close: () => inner.close(),
  };
  const serving = await serve(server, { port: 0, signals: false, eventLog });
  onTestFinished(() => serving.close());
  const session = await openSession(serving.url);
  open();
  const call = { name: 'gated', arguments: { to: 2 }, _meta: { progressToken: 'p' } };
  const events = await session.stream('tools/call', call);
  const first = await events.next();
  events.drop();
  const resumed = session.resume(String(first?.id));
  await until('the log is read', () => follows > 0);
  expect((await session.end()).status).toBe(200);
  letThrough();
  expect((await resumed).status).toBe(404);
});
