import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import { isOwnLock, tryLock, waitForLock } from '../../../../../src/adapters/node/files/file-lock.js';
import { Generations } from '../../../../../src/adapters/node/files/generations.js';
import { soon, until } from '../../../../support/until.js';

const name = 'lock';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fullmcp-lock-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Leaves the lock that another process wrote. */
async function heldBy(holder: object): Promise<string> {
  const folder = await newFolder();
  await new Generations(folder, name).advance(
    0,
    JSON.stringify({ id: 'other', host: hostname(), ...holder }),
  );
  return folder;
}

const isFree = async (folder: string): Promise<boolean> => 'release' in (await tryLock(folder, { name }));

test('A lock that this process has is refused with its holder, and is free again when it is released', async () => {
  const folder = await newFolder();
  const lock = await tryLock(folder, { name });
  const refused = await tryLock(folder, { name });
  if (!('release' in lock) || 'release' in refused) throw new Error('The lock was taken twice.');
  expect(refused.holder.pid).toBe(process.pid);
  expect(isOwnLock(refused.holder)).toBe(true);
  await lock.release();
  await lock.release();
  expect(await isFree(folder)).toBe(true);
});

test('Many that try at once get the lock once', async () => {
  const folder = await newFolder();
  const tries = await Promise.all(Array.from({ length: 10 }, () => tryLock(folder, { name })));
  expect(tries.filter((one) => 'release' in one)).toHaveLength(1);
});

test('A lock of a process that has died, or that had the number of this one, is free', async () => {
  expect(await isFree(await heldBy({ pid: 2 ** 22 + 1 }))).toBe(true);
  expect(await isFree(await heldBy({ pid: process.pid }))).toBe(true);
});

test('A lock of a process on another host is not free, since nobody here knows whether it lives', async () => {
  expect(await isFree(await heldBy({ pid: 2 ** 22 + 1, host: 'elsewhere' }))).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'A lock is free if the number of its process belongs to a later process now',
  async () => {
    const { ppid: pid } = process;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    expect(await isFree(await heldBy({ pid, start }))).toBe(false);
    expect(await isFree(await heldBy({ pid, start: '1' }))).toBe(true);
    // Written before locks had the time of the start.
    expect(await isFree(await heldBy({ pid }))).toBe(false);
  },
);

test.runIf(process.platform === 'linux')(
  'A lock is free if its process was killed and its parent has not asked how it ended',
  async () => {
    // The process that takes the place of the shell never asks.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void parent.kill());
    const pid = await new Promise<number>((resolve) => {
      parent.stdout.once('data', (line) => resolve(Number(line)));
    });
    const folder = await heldBy({ pid });
    expect(await isFree(folder)).toBe(false);
    process.kill(pid, 'SIGKILL');
    await until('the process has died', () => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '));
    expect(await isFree(folder)).toBe(true);
  },
);

test('A lock file without the number of a process is free', async () => {
  for (const pid of [0, -1, 1.5, '1', null]) expect(await isFree(await heldBy({ pid }))).toBe(true);
});

test('A lock whose time is over is free, as is one from before the clock was set back', async () => {
  const { ppid: pid } = process;
  const now = Date.now();
  expect(await isFree(await heldBy({ pid, until: now - 1, ms: 60_000 }))).toBe(true);
  expect(await isFree(await heldBy({ pid, until: now + 3_600_000, ms: 60_000 }))).toBe(true);
  expect(await isFree(await heldBy({ pid, until: now + 30_000, ms: 60_000 }))).toBe(false);
});

test('Waiting for a lock ends when it is released, or with the signal', async () => {
  const folder = await newFolder();
  const first = await waitForLock(folder, { name });
  const second = waitForLock(folder, { name, ms: 60_000 });
  await first.release();
  const lock = await soon('the lock', second);
  const stop = new AbortController();
  const third = expect(waitForLock(folder, { name, signal: stop.signal })).rejects.toThrow();
  stop.abort();
  await soon('the end', third);
  await lock.release();
});
