// Checks what is installed from elsewhere: each lock file agrees with its package.json, names a SHA-512 for every package and no source
// but npm, and every package that is shipped, or that builds and tests the package, has a licence that we accept.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { conclude, filesUnder, isProgram, root } from './files.js';
import { BUNDLED } from './sbom.js';

/**
 * @typedef {object} Locked
 * @property {string} [version]
 * @property {string} [license]
 * @property {string} [integrity]
 * @property {string} [resolved]
 * @property {boolean} [dev]
 * @property {boolean} [link]
 * @property {boolean} [inBundle]
 *
 * @typedef {{ lockfileVersion: number, packages: Record<string, Locked & Record<string, unknown>> }} Lock
 */

const REGISTRY = 'https://registry.npmjs.org/';
/** The licences of what users install: they ask for nothing but their own text. */
const SHIPPED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];
/** Tools of the project may have these as well: nothing of them is in the package. */
const TOOLS = [
  ...SHIPPED,
  'BlueOak-1.0.0',
  'CC0-1.0',
  'MPL-2.0',
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
  'Zlib',
];
const SAME = [
  'name',
  'version',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
];

if (isProgram(import.meta.url)) {
  process.chdir(root);
  const files = execFileSync('git', ['ls-files', '*package-lock.json'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const locks = files.map((file) => ({ file, lock: readJson(file) }));
  const [own] = locks.filter(({ file }) => file === 'package-lock.json');
  conclude(
    [
      ...locks.flatMap(({ file, lock }) =>
        lockProblems(file, lock, readJson(join(dirname(file), 'package.json'))),
      ),
      ...licenceProblems(own?.lock),
      ...missingLocks(files),
      ...bundledProblems(),
    ],
    `${locks.reduce((sum, { lock }) => sum + Object.keys(lock.packages).length - 1, 0)} packages of ${files.length} lock files have a hash, a source and a licence`,
  );
}

/** @param {string} file @param {Lock} lock @param {Record<string, unknown>} manifest @returns {string[]} */
export function lockProblems(file, { lockfileVersion, packages }, manifest) {
  const { '': own = {}, ...others } = packages;
  const problems = SAME.filter((field) => sorted(own[field]) !== sorted(manifest[field])).map(
    (field) => `${file} has other ${field} than its package.json. Run npm install there, and commit both.`,
  );
  if (lockfileVersion !== 3) problems.push(`${file} has the version ${lockfileVersion}, not 3.`);
  return [
    ...problems,
    ...Object.entries(others).flatMap(([place, locked]) => sourceProblems(`${file}: ${place}`, locked)),
  ];
}

/** @param {string} at @param {Locked} locked @returns {string[]} */
function sourceProblems(at, { integrity = '', resolved, link, inBundle, version = '' }) {
  if (link) return [`${at} is a link to a folder, which nobody else has.`];
  const problems = [];
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) && !inBundle) problems.push(`${at} has no SHA-512.`);
  if (!/^\d+\.\d+\.\d+/.test(version)) problems.push(`${at} has no version, but "${version}".`);
  if (resolved !== undefined && !resolved.startsWith(REGISTRY))
    problems.push(`${at} comes from ${resolved}, and not from ${REGISTRY}.`);
  return problems;
}

/** @param {Lock | undefined} lock @returns {string[]} */
export function licenceProblems(lock) {
  return Object.entries(lock?.packages ?? {}).flatMap(([place, { license = 'none', dev }]) => {
    const isShipped = !dev || BUNDLED.some((name) => place === `node_modules/${name}`);
    if (isAccepted(license, isShipped ? SHIPPED : TOOLS)) return [];
    const why = isShipped ? 'users install it' : 'the project is built or tested with it';
    return [
      `${place} has the licence ${license}, and ${why}. Find another package, or allow the licence in scripts/check-dependencies.js.`,
    ];
  });
}

/** An expression of SPDX: one of several, or all of them. @param {string} expression @param {string[]} accepted */
function isAccepted(expression, accepted) {
  const text = expression.replace(/^\((.*)\)$/, '$1');
  if (/[()]/.test(text)) return false;
  if (text.includes(' AND ')) return text.split(' AND ').every((one) => accepted.includes(one));
  return text.split(' OR ').some((one) => accepted.includes(one));
}

/** A folder that installs packages without a lock file gets others tomorrow. Examples are copied by readers. @param {string[]} files */
function missingLocks(files) {
  const manifests = execFileSync('git', ['ls-files', '*package.json'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  return manifests
    .filter((file) => !/\bfixtures\b/.test(file) && !files.includes(join(dirname(file), 'package-lock.json')))
    .filter((file) => file !== 'package.json' && Object.keys(readJson(file).dependencies ?? {}).length > 0)
    .filter((file) => !file.startsWith('examples/'))
    .map((file) => `${file} has dependencies, and no lock file is committed beside it.`);
}

/** The page of the inspector has the packages inside that the list of parts names, and no others. */
function bundledProblems() {
  const imported = filesUnder('inspector')
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('vite.config.ts'))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/^(?:import|\}).* from '((?:@[^/']+\/)?[^./'][^/']*)/gm),
    ])
    .map(([, name = '']) => name);
  return [...new Set(imported)]
    .filter((name) => ![...BUNDLED, 'fullmcp', 'vitest'].includes(name) && !name.startsWith('node:'))
    .map((name) => `The page of the inspector imports ${name}, which scripts/sbom.js does not name.`);
}

/** @param {unknown} value */
function sorted(value) {
  return JSON.stringify(typeof value === 'object' && value !== null ? Object.entries(value).sort() : value);
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
