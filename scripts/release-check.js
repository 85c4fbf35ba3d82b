// Refuses to publish what is not a release: an address that does not exist, a version without a tag or an entry in the changelog, files
// that are not committed. npm runs it before `npm publish`; packing and CI do not need it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { changelogProblems, readChangelog } from './changelog.js';
import { conclude, isProgram, readManifest, root } from './files.js';
import { PLACEHOLDER, placeholdersOf } from './project.js';
import { versionProblems } from './version.js';

if (isProgram(import.meta.url)) {
  process.chdir(root);
  const manifest = readManifest(root);
  conclude(
    [
      ...releaseProblems({
        manifest,
        changelog: readFileSync('CHANGELOG.md', 'utf8'),
        surface: JSON.parse(readFileSync('scripts/last-release.json', 'utf8')),
        tags: git('tag', '--points-at', 'HEAD').split('\n'),
        changes: git('status', '--porcelain'),
        contacts: {
          'SECURITY.md': readFileSync('SECURITY.md', 'utf8'),
          'MAINTAINERS.md': readFileSync('MAINTAINERS.md', 'utf8'),
        },
      }),
      ...versionProblems(manifest.version),
    ],
    `${manifest.name} ${manifest.version} may be published`,
  );
}

/**
 * @typedef {object} State
 * @property {{ version: string, homepage?: string, bugs?: { url?: string }, repository?: { url?: string } }} manifest
 * @property {string} changelog
 * @property {{ version: string }} surface The public names of the last release.
 * @property {string[]} tags The tags of the commit.
 * @property {string} changes The files that are not committed.
 * @property {Record<string, string>} contacts The pages that say whom to write to, by their names.
 */

/** The reasons not to publish. @param {State} state */
export function releaseProblems({ manifest, changelog, surface, tags, changes, contacts }) {
  const { version } = manifest;
  const fields = placeholdersOf(manifest);
  const problems = changelogProblems(changelog, version);
  if (fields.length > 0)
    problems.unshift(
      `package.json has no public address in ${fields.join(', ')}. Write the real ones: npm shows them to everybody.`,
    );
  for (const [file, text] of Object.entries(contacts))
    if (text.includes(PLACEHOLDER))
      problems.push(`${file} has no real contact. Replace the address on ${PLACEHOLDER}.`);
  if (readChangelog(changelog).some(({ name, text }) => name === 'Unreleased' && text !== ''))
    problems.push(`CHANGELOG.md has lines under "Unreleased". Move them to ${version}.`);
  if (surface.version !== version)
    problems.push('The public names are those of another version. Run: node scripts/surface.js --release');
  if (!tags.includes(`v${version}`))
    problems.push(`The commit has no tag v${version}. Run: git tag v${version}`);
  if (changes !== '') problems.push(`These files are not committed:\n${changes}`);
  return problems;
}

/** @param {string[]} args */
function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trimEnd();
}
