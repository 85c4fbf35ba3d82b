import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, inProcess, tool } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { versions } from 'fullmcp/transform';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { able, waitForStatus } from '../../support/tasks.js';
import { fullmcp } from '../support/run-cli.js';

const folder = await mkdtemp(join(tmpdir(), 'fullmcp-unfinished-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

test('fullmcp tasks with the folder of a store says what waits in which version', async () => {
  const path = join(folder, 'store');
  const store = lmdbStore(path);
  const order = tool({
    task: 'required',
    run: (_, ctx) => ctx.ask('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) }),
  });
  const server = createServer({
    ...{ name: 'shop', version: '3.1.0', secret: 'x'.repeat(32), logger: () => undefined, store },
    tools: { order: versions({ '1.0': order }) },
  });
  const call = inProcess(server, able);
  const { taskId } = await call('tools/call', { name: 'order' });
  await waitForStatus(call, taskId, 'input_required');
  await server.close();
  const { exit, json } = await fullmcp(['tasks', path, '--json']);
  expect(exit).toBe(0);
  expect(json()).toEqual({
    ok: true,
    releases: [],
    tasks: [
      {
        ...{ server: 'shop', tool: 'order', version: '1.0', release: '3.1.0', working: 0, waiting: 1 },
        oldest: expect.any(String),
        processes: 0,
      },
    ],
  });
  const text = await fullmcp(['tasks', path]);
  expect(text.stdout).toMatch(/order +1\.0 +3\.1\.0/);
  expect(text.stderr).toContain('without a process that serves their version: 1.');
});

test('fullmcp tasks with a target alone asks for the id, and makes no store', async () => {
  const { exit, stderr } = await fullmcp(['tasks', folder]);
  expect([exit, stderr.length > 0]).toEqual([2, true]);
});
