import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lmdbStore } from 'fullmcp/lmdb';
import { afterAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-lmdb-failures-'));
const dist = fileURLToPath(new URL('../../../../dist/', import.meta.url));
let stores = 0;
const fresh = (): string => join(folder, `store-${++stores}`);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that opens the store at `path` and continues with `then`. */
function program(path: string, then: string): string[] {
  const script = `
    const { lmdbStore } = await import(${JSON.stringify(join(dist, 'lmdb.js'))});
    const store = lmdbStore(${JSON.stringify(path)});
    ${then}`;
  return ['--input-type=module', '-e', script];
}

// When the disk rejects a write, lmdb 3.5 prints a message into a buffer that may be too small: about one process in ten then
// crashes, whatever the store does. So the tests that let the disk reject writes may be repeated.
const REPEATED = { retry: 3 };

describe('the store on a disk that is almost full', () => {
  it('rejects writes before the disk does, and accepts writes again when there is room', async (context) => {
    const disk = fresh();
    mkdirSync(disk);
    const then = `
      const { writeFileSync, rmSync } = await import('node:fs');
      const ballast = ${JSON.stringify(join(disk, 'ballast'))};
      const write = (n) => store.write([{ do: 'put', key: 'a:g', value: { n } }]).then(({ ok }) => ok, ({ message }) => message);
      const reports = [await write(1)];
      writeFileSync(ballast, Buffer.alloc(15_000_000));
      const seen = new Set();
      while (!seen.has('full')) {
        const end = await write(2);
        seen.add(end === true ? 'written' : 'full');
        reports[1] = end;
      }
      reports.push((await store.get('a:g')).value.n > 0);
      rmSync(ballast);
      reports.push(await write(3));
      console.log(JSON.stringify(reports));
      await store.close();`;
    const args = program(join(disk, 'store'), then);
    const mounted = ['--mount', 'sh', '-c', `mount -t tmpfs -o size=20m tmpfs "$0" && exec "$@"`, disk];
    const ran = await run('unshare', [...mounted, process.execPath, ...args]).catch(({ stderr }) =>
      String(stderr),
    );
    if (typeof ran === 'string') {
      expect(ran).toMatch(/unshare|mount/);
      return context.skip('A disk of its own cannot be mounted here.');
    }
    expect(JSON.parse(ran.stdout)).toEqual([
      true,
      expect.stringMatching(
        /^The store at .* could not write to the disk: it is full, with \d+ bytes left\. Make room on it\.$/,
      ),
      true,
      true,
    ]);
  });
});

describe('the store on a disk that rejects writes', () => {
  it(
    'rejects them too, loses nothing, ends no process, and accepts writes again when there is room',
    REPEATED,
    async () => {
      const path = fresh();
      const then = `
      const saved = new Map();
      const failures = [];
      let unhandled = 0;
      process.on('unhandledRejection', () => unhandled++);
      async function write(n) {
        const value = { n, text: 'x'.repeat(3000) };
        try {
          await store.write([{ do: 'put', key: 'a:g:' + n, value }]);
          saved.set('a:g:' + n, JSON.stringify(value));
        } catch (error) {
          failures.push(error.message);
        }
      }
      for (let n = 0; failures.length < 15; n += 4) await Promise.all([0, 1, 2, 3].map((more) => write(n + more)));
      const lost = async () => {
        let missing = 0;
        for (const [key, value] of saved) if (JSON.stringify((await store.get(key))?.value) !== value) missing++;
        return missing;
      };
      console.log(JSON.stringify({ lost: await lost(), failure: failures[0], unhandled }));
      await new Promise((resolve) => process.stdin.once('data', resolve));
      failures.length = 0;
      for (let n = 10_000; n < 10_050; n++) await write(n);
      await new Promise((resolve) => setTimeout(resolve, 50));
      console.log(JSON.stringify({ lost: await lost(), failures, unhandled }));
      await store.close();
      process.exit(0);`;
      // A limit on file size simulates the disk: it needs no privileges, and room can be made again.
      const child = spawn(
        'prlimit',
        ['--fsize=1000000:unlimited', process.execPath, ...program(path, then)],
        {
          stdio: ['pipe', 'pipe', 'ignore'],
        },
      );
      const lines = createInterface({ input: child.stdout });
      const nextReport = async (): Promise<object> =>
        JSON.parse(((await once(lines, 'line')) as [string])[0]);
      expect(await nextReport()).toEqual({
        lost: 0,
        failure: expect.stringMatching(/^The store at .* could not write to the disk: ./),
        unhandled: 0,
      });
      await run('prlimit', ['--fsize=unlimited', '--pid', String(child.pid)]);
      child.stdin.write('\n');
      const exit = once(child, 'exit');
      expect(await nextReport()).toEqual({ lost: 0, failures: [], unhandled: 0 });
      expect(await exit).toEqual([0, null]);
    },
  );
});

describe('the store on a disk that fills and empties during writes', () => {
  // Sometimes the disk fills between an entry and the page that commits it, after which LMDB must be reopened.
  it('settles each write, and loses none that succeeded', REPEATED, async () => {
    const path = fresh();
    const then = `
      const saved = new Map();
      let failures = 0;
      let isOver = false;
      process.stdin.once('data', () => { isOver = true; });
      async function lane(name) {
        for (let n = 0; !isOver || n < 10; n++) {
          const key = 'outcome:' + name + ':' + n % 50;
          const value = { n, text: 'x'.repeat(100 * (n % 7)) };
          try {
            await store.write([{ do: 'put', key, value }]);
            saved.set(key, JSON.stringify(value));
          } catch {
            failures++;
            await store.get(key);
          }
        }
      }
      console.log('begun');
      await Promise.all(['a', 'b', 'c'].map(lane));
      await lane('d');
      let missing = 0;
      for (const [key, value] of saved) if (JSON.stringify((await store.get(key))?.value) !== value) missing++;
      await store.close();
      console.log(JSON.stringify({ failures, missing }));
      process.exit(0);`;
    const child = spawn(process.execPath, program(path, then), { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = createInterface({ input: child.stdout });
    const limit = (size: string) => run('prlimit', [`--fsize=${size}:unlimited`, '--pid', String(child.pid)]);
    await once(lines, 'line');
    for (let round = 0; round < 60; round++) {
      await limit('1');
      await limit('unlimited');
    }
    const end = once(lines, 'line');
    child.stdin.write('\n');
    const { failures, missing } = JSON.parse(((await end) as [string])[0]);
    expect(missing).toBe(0);
    expect(failures).toBeGreaterThan(0);
    await lmdbStore(path).close();
  });
});

describe('a damaged data file', () => {
  async function fillStore(entries: number): Promise<{ path: string; file: string }> {
    const path = fresh();
    const store = lmdbStore(path);
    for (let n = 0; n < entries; n += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          store.write([{ do: 'put', key: `a:g:${n + at}`, value: { text: 'x'.repeat(500) } }]),
        ),
      );
    await store.close();
    return { path, file: join(path, 'data.mdb') };
  }

  it.each([
    [
      'garbage',
      (file: string) => writeFileSync(file, Buffer.alloc(20_000, 0x5a)),
      'its data file is not an LMDB database',
    ],
    ['empty', (file: string) => truncateSync(file, 0), 'its data file is empty'],
    [
      'cut off after 100 bytes',
      (file: string) => truncateSync(file, 100),
      'its data file is not an LMDB database',
    ],
    [
      'cut in half',
      (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2)),
      'its data file was cut off',
    ],
    [
      'without its last pages',
      (file: string) => truncateSync(file, statSync(file).size - 8192),
      'its data file was cut off',
    ],
  ])('is rejected with an error that says what is wrong and what to do: %s', async (_, damage, sentence) => {
    const { path, file } = await fillStore(400);
    damage(file);
    expect(() => lmdbStore(path)).toThrow(
      new RegExp(`^The store at ${path} is damaged: ${sentence}.*Restore a backup, or delete the folder`),
    );
  });

  it('is not assumed if the file is short because its last pages were never needed', async () => {
    const { path, file } = await fillStore(200);
    const bytes = readFileSync(file);
    const pageSize = bytes.readUInt32LE(48);
    // As LMDB leaves it when a transaction frees the pages at the end: the newest meta page counts more pages than exist.
    const newest = bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(pageSize + 152) ? 0 : pageSize;
    bytes.writeBigUInt64LE(bytes.readBigUInt64LE(newest + 144) + 5n, newest + 144);
    writeFileSync(file, bytes);
    const store = lmdbStore(path);
    expect(await store.get('a:g:199')).toBeDefined();
    await store.write([{ do: 'put', key: 'b:g', value: { n: 1 } }]);
    expect((await store.get('b:g'))?.value).toEqual({ n: 1 });
    await store.close();
  });

  it('is not assumed if the file has more pages than are in use', async () => {
    const { path, file } = await fillStore(100);
    appendFileSync(file, Buffer.alloc(16_384));
    const store = lmdbStore(path);
    expect(await store.get('a:g:99')).toBeDefined();
    await store.close();
  });
});
