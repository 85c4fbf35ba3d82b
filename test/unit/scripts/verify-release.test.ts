import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';

type Tarball = { readonly entries: readonly { readonly path: string }[]; readonly sha256: string };

/** The functions of the scripts that are tried here, which are JavaScript without declarations. */
interface Scripts {
  readTarball(bytes: Buffer): Tarball;
  differencesOf(one: Tarball, other: Tarball, names: { one: string; other: string }): string[];
  compare(given: Tarball, first: Tarball, second: Tarball): string[];
}
const root = fileURLToPath(new URL('../../..', import.meta.url));
const script = (name: string): string => new URL(`../../../scripts/${name}.js`, import.meta.url).href;
const { readTarball, differencesOf, compare }: Scripts = {
  ...(await import(script('tarball'))),
  ...(await import(script('verify-release'))),
};

const BLOCK = 512;
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-tarball-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const packed = pack();
const names = { one: 'the tarball', other: 'the build' };

/** A small package, packed by npm. */
function pack(): Buffer {
  writeFileSync(join(folder, 'package.json'), '{ "name": "small", "version": "1.0.0", "bin": "run.js" }');
  writeFileSync(join(folder, 'run.js'), '#!/usr/bin/env node\nconsole.log(1);\n');
  writeFileSync(join(folder, 'README.md'), '# Small\n');
  const packed = mkdtempSync(`${folder}-packed-`);
  try {
    const options = { cwd: folder, shell: process.platform === 'win32' };
    execFileSync('npm', ['pack', '--silent', '--pack-destination', packed], options);
    return readFileSync(join(packed, readdirSync(packed)[0] ?? ''));
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
}

/** The package with its archive changed, and the compressed stream as npm writes it. */
function changed(edit: (tar: Buffer) => Buffer | undefined): Buffer {
  const tar = Buffer.from(gunzipSync(packed));
  const bytes = gzipSync(edit(tar) ?? tar, { level: 9 });
  packed.copy(bytes, 0, 0, 10);
  return bytes;
}

/** Where the header of a file begins. */
function headerOf(tar: Buffer, path: string): number {
  return tar.indexOf(`package/${path}\0`);
}

function differences(bytes: Buffer): string[] {
  return differencesOf(readTarball(bytes), readTarball(packed), names);
}

describe('verify-release', () => {
  test('finds no difference between two packages of the same files, and accepts them', () => {
    const again = pack();
    expect(readTarball(again).entries.map(({ path }) => path)).toContain('package/run.js');
    expect(again.equals(packed)).toBe(true);
    expect(differences(again)).toEqual([]);
    expect(compare(readTarball(packed), readTarball(again), readTarball(packed))).toEqual([]);
  });

  test('names the file and the place of one changed byte', () => {
    const bytes = changed((tar) => {
      const at = headerOf(tar, 'run.js') + BLOCK + 32;
      tar[at] = (tar[at] ?? 0) ^ 1;
      return tar;
    });
    expect(differences(bytes)).toEqual(['package/run.js: contents differ at byte 32 (36 and 36 bytes)']);
  });

  test('names a file that was added, and one that is missing', () => {
    const added = changed((tar) => {
      const at = headerOf(tar, 'README.md');
      const copy = Buffer.from(tar.subarray(at, at + 2 * BLOCK));
      copy.write('package/EXTRA1.md');
      return Buffer.concat([tar.subarray(0, at), copy, tar.subarray(at)]);
    });
    expect(differences(added)).toEqual(['package/EXTRA1.md: only in the tarball']);
    expect(differencesOf(readTarball(packed), readTarball(added), names)).toEqual([
      'package/EXTRA1.md: only in the build',
    ]);
  });

  test('names a file that is there twice, of which an extractor would take the last', () => {
    const twice = changed((tar) => {
      const at = headerOf(tar, 'README.md');
      return Buffer.concat([tar.subarray(0, at), tar.subarray(at, at + 2 * BLOCK), tar.subarray(at)]);
    });
    expect(differences(twice)).toEqual(['package/README.md: more than once in the tarball']);
  });

  test.each([
    ['mode', 100, '000755 ', /^package\/README\.md: mode is "000755" and "000644"$/],
    ['owner', 108, '0001750', /^package\/README\.md: owner is "0001750" and /],
    ['time', 136, '15012345678', /^package\/README\.md: time is "15012345678" and /],
  ])('names a file with another %s', (_, offset, value, message) => {
    const bytes = changed((tar) => {
      tar.write(value, headerOf(tar, 'README.md') + offset);
      return tar;
    });
    expect(differences(bytes)).toEqual([expect.stringMatching(message)]);
  });

  test('notices another order, bytes after the last file, and another header of gzip', () => {
    const swapped = changed((tar) => {
      const [first, second] = [0, 2 * BLOCK].map((at) => Buffer.from(tar.subarray(at, at + 2 * BLOCK)));
      return Buffer.concat([second ?? tar, first ?? tar, tar.subarray(4 * BLOCK)]);
    });
    expect(differences(swapped)).toEqual([expect.stringContaining('another place in the order')]);
    const longer = changed((tar) => Buffer.concat([tar, Buffer.alloc(BLOCK, 'x')]));
    expect(differences(longer)).toEqual(['The bytes between or after the files differ.']);
    for (const hidden of [Buffer.alloc(8), gzipSync('')])
      expect(differences(Buffer.concat([packed, hidden]))).toEqual(['Bytes follow the compressed archive.']);
    const elsewhere = Buffer.from(packed);
    elsewhere.writeUInt32LE(1_800_000_000, 4);
    expect(differences(elsewhere)).toEqual([expect.stringMatching(/^gzip: time is "1800000000" and "/)]);
  });

  test('refuses a build that is not the same twice, whatever the tarball is', () => {
    const other = changed((tar) => {
      tar.write('#', headerOf(tar, 'README.md') + BLOCK + 1);
      return tar;
    });
    const lines = compare(readTarball(packed), readTarball(packed), readTarball(other));
    expect(lines[0]).toBe('Two builds of the commit are not the same:');
    expect(lines[1]).toContain('package/README.md: contents differ at byte 1');
  });

  test('accepts the same archive that another compressor has packed', () => {
    const bytes = gzipSync(gunzipSync(packed), { level: 1 });
    packed.copy(bytes, 0, 0, 10);
    expect(compare(readTarball(bytes), readTarball(packed), readTarball(packed))).toEqual([]);
  });

  test.each([
    ['without a tarball', [], /Usage: npm run verify-release/],
    ['with a file that does not exist', ['no.tgz'], /no\.tgz cannot be read.*ENOENT/],
    [
      'with a file that is not a tarball',
      ['package.json'],
      /package\.json cannot be read. It is not a gzipped tarball/,
    ],
  ])('ends with 2 and says why %s', (_, args, message) => {
    const env = { ...process.env, INIT_CWD: root };
    const program = spawnSync(process.execPath, ['scripts/verify-release.js', ...args], {
      cwd: root,
      encoding: 'utf8',
      env,
    });
    expect([program.status, program.stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  test('refuses a tarball that is cut off, or that unpacks to more than a package can have', () => {
    expect(() => readTarball(packed.subarray(0, 200))).toThrow();
    expect(() => readTarball(gzipSync(Buffer.alloc(101_000_000)))).toThrow(/larger than/);
  });
});
