// Writes the parts of the package as a CycloneDX document, from the lock file: the packages that an install brings, and those that are
// inside the page of the inspector. The same commit makes the same bytes. `npm sbom` would leave out packages that a development
// dependency needs as well, and name the package after the folder that it is in.
//
//   node scripts/sbom.js [file]
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProgram, readManifest, root } from './files.js';
import { isPlaceholder, project } from './project.js';

/** @typedef {{ version: string, license?: string, integrity?: string, dependencies?: Record<string, string> }} Locked */
/** @typedef {Record<string, Locked>} Lock Packages by their place, such as `node_modules/ws`. */

/** The packages that are bundled into the page of the inspector. */
export const BUNDLED = ['preact', '@preact/signals'];

/** Inter is not on npm in the form that the page has; docs/dependencies.md says how it is made. */
const FONT = {
  'bom-ref': 'inter@4.1',
  type: 'file',
  name: 'inter',
  version: '4.1',
  licenses: [{ license: { id: 'OFL-1.1' } }],
  properties: [
    { name: 'fullmcp:place', value: 'dist/inspector, and the style of pages that a server sends' },
  ],
};

if (isProgram(import.meta.url)) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const text = `${JSON.stringify(billOfMaterials(lock, readManifest(root), commitTime()), undefined, 2)}\n`;
  const [file] = process.argv.slice(2);
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text);
}

/**
 * @param {Lock} lock
 * @param {{ name: string, version: string, description?: string, license: string, dependencies: Record<string, string> }} manifest
 * @param {string | undefined} timestamp
 */
export function billOfMaterials(lock, { name, version, description, license, dependencies }, timestamp) {
  const installed = reached(lock, Object.keys(dependencies));
  const bundled = reached(lock, BUNDLED);
  const self = `${name}@${version}`;
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      ...(timestamp !== undefined && { timestamp }),
      component: {
        'bom-ref': self,
        type: 'library',
        name,
        version,
        ...(description !== undefined && { description }),
        purl: `pkg:npm/${self}`,
        licenses: [{ license: { id: license } }],
        ...(!isPlaceholder && { externalReferences: [{ type: 'vcs', url: project.repository }] }),
      },
    },
    components: [
      ...installed.map((one) => component(lock, one, 'installed with the package')),
      ...bundled.map((one) => component(lock, one, 'bundled into dist/inspector')),
      FONT,
    ],
    dependencies: [
      {
        ref: self,
        dependsOn: [...installed, ...bundled].map((one) => refOf(lock, one)).concat(FONT['bom-ref']),
      },
      ...[...installed, ...bundled].map((one) => ({
        ref: refOf(lock, one),
        dependsOn: Object.keys(lock[placeOf(one)]?.dependencies ?? {}).map((other) => refOf(lock, other)),
      })),
    ],
  };
}

/** Packages and everything that they depend on, sorted. @param {Lock} lock @param {string[]} names */
function reached(lock, names) {
  /** @type {Set<string>} */
  const seen = new Set();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const locked = lock[placeOf(name)];
    if (locked === undefined) throw new Error(`package-lock.json does not have ${name}. Run: npm install`);
    if (seen.has(name)) continue;
    seen.add(name);
    open.push(...Object.keys(locked.dependencies ?? {}));
  }
  return [...seen].sort();
}

/** @param {Lock} lock @param {string} name @param {string} place */
function component(lock, name, place) {
  const { version = '', license = '', integrity = '' } = lock[placeOf(name)] ?? {};
  const [algorithm, hash = ''] = integrity.split('-');
  if (algorithm !== 'sha512') throw new Error(`package-lock.json has no SHA-512 of ${name}.`);
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }],
    licenses: [{ license: { id: license } }],
    properties: [{ name: 'fullmcp:place', value: place }],
  };
}

/** @param {Lock} lock @param {string} name */
function refOf(lock, name) {
  return `${name}@${lock[placeOf(name)]?.version}`;
}

/** @param {string} name */
function placeOf(name) {
  return `node_modules/${name}`;
}

/** The time of the commit, so that the document is the same whenever it is made. */
function commitTime() {
  const time = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return new Date(Number(time) * 1000).toISOString();
}
