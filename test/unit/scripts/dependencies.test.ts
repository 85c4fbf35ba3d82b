import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

type Locked = Record<string, unknown>;
type Lock = { lockfileVersion: number; packages: Record<string, Locked> };
type Component = { 'bom-ref': string; licenses: [{ license: { id: string } }]; hashes?: unknown[] };

/** The functions of the scripts that are tried here, which are JavaScript without declarations. */
interface Scripts {
  lockProblems(file: string, lock: Lock, manifest: object): string[];
  licenceProblems(lock: Lock): string[];
  billOfMaterials(
    lock: object,
    manifest: object,
    time?: string,
  ): { components: Component[]; dependencies: { ref: string; dependsOn: string[] }[] };
}
const script = (name: string): string => new URL(`../../../scripts/${name}.js`, import.meta.url).href;
const { lockProblems, licenceProblems, billOfMaterials }: Scripts = {
  ...(await import(script('check-dependencies'))),
  ...(await import(script('sbom'))),
};

const integrity = `sha512-${'A'.repeat(86)}==`;
const manifest = { name: 'own', version: '1.0.0', dependencies: { ws: '^8.0.0' } };
const ws = { version: '8.1.0', license: 'MIT', integrity };

function lockWith(change: Locked, root: Locked = {}): Lock {
  return {
    lockfileVersion: 3,
    packages: { '': { ...manifest, ...root }, 'node_modules/ws': { ...ws, ...change } },
  };
}

describe('a lock file', () => {
  test('is accepted if it agrees with package.json and has a hash for everything, from npm or from no named source', () => {
    expect(lockProblems('x', lockWith({}), manifest)).toEqual([]);
    const resolved = 'https://registry.npmjs.org/ws/-/ws-8.1.0.tgz';
    expect(lockProblems('x', lockWith({ resolved }), manifest)).toEqual([]);
  });

  test.each([
    ['a package without a hash', { integrity: undefined }, 'no SHA-512'],
    ['a weak hash', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'no SHA-512'],
    [
      'a foreign registry',
      { resolved: 'https://registry.example.com/ws.tgz' },
      'comes from https://registry.example.com',
    ],
    [
      'a registry whose name begins like that of npm',
      { resolved: 'https://registry.npmjs.org.evil.dev/ws.tgz' },
      'comes from',
    ],
    ['a repository', { resolved: 'git+ssh://git@github.com/websockets/ws.git' }, 'comes from git+ssh'],
    ['a link to a folder', { link: true }, 'is a link'],
    ['a version that is not a number', { version: 'file:../ws' }, 'has no version'],
  ])('is refused with %s', (_, change, message) => {
    expect(lockProblems('x', lockWith(change), manifest).join()).toContain(message);
  });

  test('is refused if package.json asks for something else', () => {
    const stale = lockWith({}, { dependencies: { ws: '^7.0.0' } });
    expect(lockProblems('x', stale, manifest)).toEqual([expect.stringContaining('other dependencies than')]);
    expect(lockProblems('x', lockWith({}, { version: '0.9.0' }), manifest)).toEqual([
      expect.stringContaining('other version than'),
    ]);
  });
});

describe('a licence', () => {
  test.each([
    ['MIT', true, true],
    ['(MIT OR GPL-3.0-or-later)', true, true],
    ['(MIT AND Zlib)', false, true],
    ['MPL-2.0', false, true],
    ['GPL-3.0-only', false, false],
    ['MIT AND GPL-2.0-only', false, false],
    ['SEE LICENSE IN LICENSE', false, false],
    [undefined, false, false],
  ])('%s is accepted for a dependency: %s, and for a tool: %s', (license, shipped, tool) => {
    expect(licenceProblems(lockWith({ license }, { license: 'MIT' })).length === 0).toBe(shipped);
    expect(licenceProblems(lockWith({ license, dev: true }, { license: 'MIT' })).length === 0).toBe(tool);
  });
});

describe('the list of parts of the package', () => {
  const read = (file: string) =>
    JSON.parse(readFileSync(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), 'utf8'));
  const own = read('package.json');
  const bill = billOfMaterials(read('package-lock.json').packages, own);
  const refs = bill.components.map((component) => component['bom-ref']);

  test('has every package that an install brings, those inside the inspector, and the font', () => {
    const names = refs.map((ref) => ref.replace(/@[^@]+$/, ''));
    expect(names).toEqual(
      expect.arrayContaining([...Object.keys(own.dependencies), 'preact', '@preact/signals', 'inter']),
    );
    expect(new Set(refs).size).toBe(refs.length);
  });

  test('gives each package its licence and its hash, and refers only to what it lists', () => {
    for (const { licenses, hashes, ...rest } of bill.components) {
      expect(licenses[0].license.id).toMatch(/^(MIT|OFL-1\.1)$/);
      if (rest['bom-ref'] !== 'inter@4.1') expect(hashes).toHaveLength(1);
    }
    const known = [`fullmcp@${own.version}`, ...refs];
    for (const { ref, dependsOn } of bill.dependencies)
      for (const one of [ref, ...dependsOn]) expect(known).toContain(one);
  });

  test('is the same each time', () => {
    expect(billOfMaterials(read('package-lock.json').packages, own)).toEqual(bill);
  });
});
