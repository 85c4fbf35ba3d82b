// Writes the version of package.json to the other files that have it; --check names those that have another. npm runs it as the script
// `version`, after `npm version` has changed package.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { conclude, isProgram, readManifest, root } from './files.js';

/**
 * The files that repeat the version, and the text before it. Everything else reads one of them. A page need not name the version.
 * @type {{ file: string, before: RegExp, isPage?: boolean }[]}
 */
const PLACES = [
  { file: 'src/protocol/version.ts', before: /VERSION = '/g },
  { file: 'examples/deploy/deno/deno.json', before: /npm:fullmcp@\^/g },
  { file: 'skills/fullmcp/SKILL.md', before: /^ {2}version: "/gm },
  { file: 'docs/deploy-deno.md', before: /npm:fullmcp@\^/g },
  { file: 'docs/comparison.md', before: /^\| fullmcp \| |\bfullmcp is (?=\d)/gm, isPage: true },
  {
    file: 'package-lock.json',
    before: /^\{\n {2}"name": "fullmcp",\n {2}"version": "|"name": "fullmcp",\n {6}"version": "/g,
  },
];

if (isProgram(import.meta.url)) {
  const { version } = readManifest(root);
  if (process.argv.includes('--check'))
    conclude(versionProblems(version), `Every file has the version ${version}`);
  else
    for (const { file, before } of PLACES)
      writeFileSync(join(root, file), withVersion(readFileSync(join(root, file), 'utf8'), before, version));
}

/** The files that have another version than package.json, or none. @param {string} version */
export function versionProblems(version) {
  return PLACES.flatMap(({ file, before, isPage }) => {
    const text = readFileSync(join(root, file), 'utf8');
    if (text.search(before) < 0 && !isPage)
      return [`${file} does not have the version. Correct scripts/version.js.`];
    return withVersion(text, before, version) === text
      ? []
      : [`${file} has another version than package.json. Run: node scripts/version.js`];
  });
}

/** @param {string} text @param {RegExp} before @param {string} version */
function withVersion(text, before, version) {
  const place = new RegExp(`(${before.source})\\d+\\.\\d+\\.\\d+(?:-\\w+(?:\\.\\w+)*)?`, before.flags);
  return text.replace(place, (_, start) => `${start}${version}`);
}
