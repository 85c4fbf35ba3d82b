import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenStoreContract } from 'fullmcp/testing';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { Generations } from '../../../../../src/adapters/node/files/generations.js';
import { fileTokenStore } from '../../../../../src/adapters/node/oauth/file-token-store.js';
import { expectMode } from '../../../../support/modes.js';

const key = 'k'.repeat(32);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-tokens-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function filesUnder(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe('fileTokenStore', () => {
  const open = () => fileTokenStore({ folder, key });
  for (const { name, run } of tokenStoreContract({ open, openAnother: open })) test(name, run);

  it('writes files that only their owner can read and that do not show the secret, nor the name of the key', async () => {
    const own = join(folder, 'own');
    await fileTokenStore({ folder: own, key }).set('tokens https://server.example', 'the refresh token');
    const files = await filesUnder(own);
    expect(files).toHaveLength(1);
    for (const file of files) {
      expect(file).not.toContain('server.example');
      expectMode(file, 0o600);
      expect(await readFile(file, 'latin1')).not.toContain('refresh');
    }
    for (const entry of await readdir(own)) expectMode(join(own, entry), 0o700);
  });

  it('rejects a wrong key, a changed file and a file of another key', async () => {
    const own = join(folder, 'changed');
    const store = fileTokenStore({ folder: own, key });
    await store.set('a', 'value of a');
    await store.set('b', 'value of b');
    await expect(fileTokenStore({ folder: own, key: 'o'.repeat(32) }).get('a')).rejects.toThrow(
      'cannot be decrypted',
    );
    const [first = '', second = ''] = await filesUnder(own);
    await writeFile(first, await readFile(second));
    const results = await Promise.allSettled([store.get('a'), store.get('b')]);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });

  it('names the environment variable if there is no key, and rejects a short one', async () => {
    vi.stubEnv('FULLMCP_TOKEN_KEY', '');
    await expect(fileTokenStore({ folder }).get('a')).rejects.toThrow('FULLMCP_TOKEN_KEY');
    await expect(fileTokenStore({ folder, key: 'short' }).get('a')).rejects.toThrow('too short');
    vi.stubEnv('FULLMCP_TOKEN_KEY', key);
    expect(await fileTokenStore({ folder }).get('not there')).toBeUndefined();
    vi.unstubAllEnvs();
  });

  it('asks the hook for the key once, and again if it failed', async () => {
    const hook = vi.fn().mockRejectedValueOnce(new Error('locked')).mockResolvedValue(key);
    const store = fileTokenStore({ folder, key: hook });
    await expect(store.get('a')).rejects.toThrow('locked');
    await store.get('a');
    await store.get('b');
    expect(hook).toHaveBeenCalledTimes(2);
  });

  it('ignores files that it did not write, and one that a crash left half-written', async () => {
    const own = join(folder, 'strange');
    const store = fileTokenStore({ folder: own, key });
    await store.set('a', 'first');
    const [file = ''] = await filesUnder(own);
    const names = ['value.1e9', 'value.0x99', 'value.05', 'value.', 'value.2.bak', 'value.9007199254740991'];
    for (const name of [...names, 'tmp-1-abc', `tmp-${Date.now()}-abc`])
      await writeFile(join(file, '..', name), 'half');
    expect(await store.get('a')).toBe('first');
    await store.set('a', 'second');
    expect(await fileTokenStore({ folder: own, key }).get('a')).toBe('second');
    const left = (await filesUnder(own)).map((path) => path.slice(path.lastIndexOf('/') + 1));
    // An old half-written file is removed; a new one may be of a process that is still writing.
    expect(left).not.toContain('tmp-1-abc');
  });

  it('keeps its files from others in a folder that others can read', async () => {
    const own = join(folder, 'open');
    await mkdir(own, { mode: 0o755 });
    await chmod(own, 0o755);
    await fileTokenStore({ folder: own, key }).set('a', 'value');
    for (const entry of await readdir(own)) expectMode(join(own, entry), 0o700);
  });

  it('frees at once the lock of a process that has died', async () => {
    const own = join(folder, 'dead');
    const store = fileTokenStore({ folder: own, key });
    await (await store.lock('a', { ms: 60_000 }))();
    const [file = ''] = await filesUnder(own);
    const { hostname } = await import('node:os');
    // A process with the number of this one that had the lock before, and one whose number is not in use.
    for (const [number, pid] of [
      [900, process.pid],
      [1000, 2 ** 22 + 1],
    ] as const) {
      const dead = { id: 'gone', pid, host: hostname(), until: Date.now() + 50_000, ms: 60_000 };
      await writeFile(file.replace(/\d+$/, String(number)), JSON.stringify(dead));
      await (await store.lock('a', { ms: 60_000, signal: AbortSignal.timeout(5000) }))();
    }
  });

  const openOwn = () => fileTokenStore({ folder: join(folder, 'many'), key });

  it('loses no write of many at the same time, and keeps nothing that was replaced', async () => {
    const many = join(folder, 'many');
    const stores = Array.from({ length: 12 }, openOwn);
    await Promise.all(
      stores.map(async (store, at) => {
        for (;;) {
          const text = await store.get('list');
          const list = JSON.stringify([...(JSON.parse(text ?? '[]') as number[]), at]);
          if (await store.set('list', list, { expected: text ?? null })) return;
        }
      }),
    );
    const list = JSON.parse((await openOwn().get('list')) ?? '[]') as number[];
    expect([...list].sort((a, b) => a - b)).toEqual(stores.map((_, at) => at));
    await openOwn().delete('list');
    for (const file of await filesUnder(many)) expect((await stat(file)).size, file).toBe(0);
    for (let at = 0; at < 80; at++) await openOwn().set('list', String(at));
    expect((await filesUnder(many)).length).toBeLessThan(70);
  });

  it('lets one of many at a time have a lock', async () => {
    let holders = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        const release = await openOwn().lock('list', { ms: 60_000 });
        most = Math.max(most, ++holders);
        await new Promise((resolve) => setImmediate(resolve));
        holders--;
        await release();
      }),
    );
    expect(most).toBe(1);
  });

  it('does not take the number of a version that was replaced twice since it was read', async () => {
    const versions = new Generations(join(folder, 'versions'), 'value');
    for (const number of [0, 1, 2])
      expect(await versions.advance(number, `version ${number + 1}`)).toBe(true);
    expect(await versions.advance(1, 'late')).toBe(false);
    expect((await versions.latest())?.content.toString()).toBe('version 3');
    // The names of replaced versions are kept for those that have looked for newer ones already.
    expect((await readdir(join(folder, 'versions'))).sort()).toEqual(['value.1', 'value.2', 'value.3']);
  });
});
