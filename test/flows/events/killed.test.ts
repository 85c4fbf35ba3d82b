import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lmdbStore } from 'fullmcp/lmdb';
import { expect, test } from 'vitest';
import type { EventHistory } from '../../../src/extensions/events/log/event-history.js';
import { drain, openHistory } from '../../support/event-history-cases.js';
import { until } from '../../support/until.js';

const script = fileURLToPath(new URL('fixtures/emitter.mjs', import.meta.url));
const dist = new URL('../../../dist', import.meta.url).href;

/** Lets two processes emit the same numbers, and kills both when one of them has acknowledged `more` further events. */
async function emitAndKill(path: string, from: number, more: number): Promise<number> {
  let acknowledged = from - 1;
  const children = [0, 1].map(() =>
    fork(script, [dist, path, String(from)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  for (const child of children)
    child.on('message', (n: number) => {
      acknowledged = Math.max(acknowledged, n);
    });
  await until('enough events are acknowledged', () => acknowledged >= from + more);
  const ended = children.map((child) => once(child, 'close'));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);
  return acknowledged;
}

test('Processes that are killed while they emit lose no event that was acknowledged, and tell none twice', async () => {
  const path = mkdtempSync(join(tmpdir(), 'fullmcp-events-killed-'));
  try {
    const before = lmdbStore(path);
    const start = await (await openLog(before)).tail();
    await before.close();
    let acknowledged = -1;
    for (const more of [3, 150, 40, 700, 10]) acknowledged = await emitAndKill(path, acknowledged + 1, more);
    const store = lmdbStore(path);
    const numbers = (await drain(await openLog(store), start)).map(({ data }) => data['n'] as number);
    await store.close();
    expect(new Set(numbers).size).toBe(numbers.length);
    for (let n = 0; n <= acknowledged; n++) expect(numbers).toContain(n);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
});

function openLog(store: Parameters<typeof openHistory>[0]): Promise<EventHistory> {
  return openHistory(store, 'counted', undefined, 'killed');
}
