import { expect, test } from 'vitest';
import { asChanging } from '../../../../src/cli/commands/project/reloading/changing-lists.js';
import { buildCall } from '../../../../src/testing.js';

test('a list of code that is being edited is never cached, however long the server allows it', () => {
  const outcome = { resultType: 'complete', tools: [], ttlMs: 60_000, cacheScope: 'public' };
  expect(asChanging(buildCall('tools/list'), outcome)).toEqual({ ...outcome, ttlMs: 0 });
});

test('a task of code that is being edited is kept for as long as its server says', () => {
  const outcome = { resultType: 'complete', taskId: 'one', status: 'working', ttlMs: 3_600_000 };
  expect(asChanging(buildCall('tasks/get', { taskId: 'one' }), outcome)).toEqual(outcome);
});
