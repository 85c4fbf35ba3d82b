import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** The functions of the scripts that are tried here, which are JavaScript without declarations. */
interface Scripts {
  changelogProblems(text: string, version: string): string[];
  readChangelog(text: string): { name: string; date?: string; groups: string[] }[];
  placeholdersOf(manifest: object): string[];
  releaseProblems(state: object): string[];
  versionProblems(version: string): string[];
}
const names = ['changelog', 'project', 'release-check', 'version'];
const modules = names.map((name) => import(new URL(`../../../scripts/${name}.js`, import.meta.url).href));
const { changelogProblems, readChangelog, placeholdersOf, releaseProblems, versionProblems }: Scripts =
  Object.assign({}, ...(await Promise.all(modules)));

const root = fileURLToPath(new URL('../../..', import.meta.url));
const manifest = {
  version: '1.1.0',
  homepage: 'https://docs.fullmcp.dev/',
  bugs: { url: 'https://code.fullmcp.dev/issues' },
  repository: { url: 'git+https://code.fullmcp.dev/fullmcp.git' },
};
const changelog = `# Changelog

## 1.1.0 (2027-02-01)

### Breaking

- One.

### Mended

- Two.

## 1.1.0-rc.2 (2027-01-20)

### New

- Three.

## 0.1.0 (2026-11-15)

The foundation.
`;
const ready = {
  manifest,
  changelog,
  surface: { version: '1.1.0' },
  tags: ['v1.1.0'],
  changes: '',
  contacts: { 'SECURITY.md': 'security@fullmcp.dev' },
};

describe('a release', () => {
  test('may be published when addresses, changelog, public names, tag and commit agree', () => {
    expect(releaseProblems(ready)).toEqual([]);
  });

  test.each([
    ['a homepage on the reserved domain', { homepage: 'https://fullmcp.example.invalid/' }, 'homepage'],
    [
      'a repository on the reserved domain',
      { repository: { url: 'git+https://example.invalid/x.git' } },
      'repository.url',
    ],
    ['no address for bugs', { bugs: undefined }, 'bugs.url'],
    ['an address without TLS', { homepage: 'http://docs.fullmcp.dev/' }, 'homepage'],
    ['a homepage that is not an address', { homepage: 'soon' }, 'homepage'],
  ])('is refused with %s', (_, change, field) => {
    expect(placeholdersOf({ ...manifest, ...change })).toEqual([field]);
    expect(releaseProblems({ ...ready, manifest: { ...manifest, ...change } })).toEqual([
      `package.json has no public address in ${field}. Write the real ones: npm shows them to everybody.`,
    ]);
  });

  test.each([
    ['without its tag', { tags: ['v1.0.0'] }, /no tag v1\.1\.0/],
    [
      'without a real contact',
      { contacts: { 'SECURITY.md': 'Write to security@fullmcp.example.invalid.' } },
      /SECURITY\.md has no real contact/,
    ],
    ['with files that are not committed', { changes: ' M README.md' }, /not committed:\n M README\.md/],
    ['with the public names of another version', { surface: { version: '1.0.0' } }, /surface\.js --release/],
    [
      'with lines that no release has',
      { changelog: changelog.replace('## 1.1.0 (', '## Unreleased\n\n- Four.\n\n## 1.1.0 (') },
      /lines under "Unreleased"/,
    ],
    [
      'that the changelog does not name',
      { changelog: changelog.replace('1.1.0 (', '1.0.9 (') },
      /no release 1\.1\.0/,
    ],
  ])('is refused %s', (_, change, message) => {
    expect(releaseProblems({ ...ready, ...change }).join('\n')).toMatch(message);
  });

  test('of this checkout is refused by npm publish for as long as package.json has placeholders', () => {
    const own = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    expect(own.scripts.prepublishOnly).toBe(own.scripts['release-check']);
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release-check.js'], {
      cwd: root,
      encoding: 'utf8',
    });
    const fields = placeholdersOf(own);
    if (fields.length > 0) expect([status, stderr]).toEqual([1, expect.stringContaining(fields.join(', '))]);
  });
});

describe('the changelog', () => {
  test('is read as releases with their dates and groups', () => {
    expect(readChangelog(changelog).map(({ name, date, groups }) => [name, date, groups])).toEqual([
      ['1.1.0', '2027-02-01', ['Breaking', 'Mended']],
      ['1.1.0-rc.2', '2027-01-20', ['New']],
      ['0.1.0', '2026-11-15', []],
    ]);
  });

  test.each([
    ['a heading that is not a version', ['## 1.1.0 (2027', '## Version 1.1.0 (2027'], /is not a release/],
    ['groups in another order', ['### Breaking', '### Mended'], /in this order, once/],
    ['a group that it does not know', ['### New', '### Improvements'], /in this order, once/],
    ['versions in the wrong order', ['1.1.0-rc.2', '1.2.0-rc.1'], /stands above 1\.2\.0-rc\.1/],
    ['dates in the wrong order', ['2026-11-15', '2027-11-15'], /stands above 0\.1\.0/],
    ['a line that stands there twice', ['- Two.', '- One.'], /:11 repeats an earlier line: - One\./],
    [
      'lines above its groups',
      ['### Breaking', '- Five.\n\n### Breaking'],
      /1\.1\.0 has lines above its groups/,
    ],
    ['a release that says nothing', ['The foundation.', ''], /0\.1\.0 says nothing/],
  ])('is refused with %s', (_, [old = '', planted = ''], message) => {
    expect(changelogProblems(changelog.replace(old, planted), '1.1.0').join('\n')).toMatch(message);
  });
});

test('every file that has the version has that of package.json', () => {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  expect(versionProblems(version)).toEqual([]);
  expect(versionProblems('9.9.9').length).toBeGreaterThan(3);
});
