// Enforces the size budgets of the package, and keeps Node, third parties and eval out of entries where they do not belong.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { bytesUnder, conclude, filesUnder, kilobytes, readManifest, root } from './files.js';
import { withPackage } from './pack.js';
import { evalsOf, globalsOf, importsOf, tokenize } from './scan.js';

// Where it goes, and why it is not less: docs/dependencies.md, "The size of the package". 3 kB of the page are the chat with a model, which is
// loaded when it is opened.
const UNPACKED_BYTES = { page: 171_000, docs: 2_000_000, rest: 4_700_000 };
const INSTALLED_PACKAGES = 5;
/**
 * 100 kB of it are code mode: the script of its worker threads, which is a string in the package, and its pages of documentation. 40 kB are the
 * chat of the inspector.
 */
const INSTALLED_BYTES = 7_700_000;
/**
 * The code that an import of the entry loads, our files and dependencies together: its bytes after `minified` and gzip, which grow with the
 * code and not with its names and white space, and how many files. 0.8 kB of `dist/index.js` read the sources of types of events: mistakes in
 * definitions are found when a server is made, before anything can be loaded. 0.9 kB check the option `fallbacks` at the same time. 0.6 kB
 * find handles in arguments, and load what opens and makes them, on the way that every call of a tool takes. 0.1 kB keeps tools that were
 * removed out of lists. 0.2 kB of `dist/http.js` serve calls that have no session id. 0.2 kB order the work of
 * the store in memory by its time.
 */
const ENTRY_BUDGETS = {
  'dist/index.js': { bytes: 99_950, files: 24 },
  'dist/http.js': { bytes: 54_550, files: 12 },
};
/** Entries that run on every runtime. */
const PORTABLE_ENTRIES = [
  'dist/index.js',
  'dist/http.js',
  'dist/websocket.js',
  'dist/client.js',
  'dist/client-web.js',
  'dist/middleware.js',
  'dist/extension.js',
  'dist/events.js',
  'dist/skills.js',
  'dist/apps.js',
  'dist/server-card.js',
  'dist/tools.js',
  'dist/transform.js',
  'dist/catalog.js',
  'dist/rest.js',
];
/**
 * The client for browsers, minified and gzipped: the part that a page loads to connect, and all parts together. 4.5 kB of these are
 * `client.events()` and `client.on`, which only a page that follows events loads. 0.3 kB of the first part keep the pages of a list together:
 * every list passes through them. 0.7 kB of all parts are the way of events to one of several servers.
 */
const BROWSER_ENTRY = 'dist/client-web.js';
const BROWSER_GZIP_BYTES = { atOnce: 28_000, inAll: 87_500 };
const NODE_ONLY_PACKAGES = ['ws'];
const PACKED =
  /^(dist\/.+|skills\/fullmcp\/SKILL\.md|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md|package\.json)$/;
const MUST_BE_PACKED = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'package.json',
  'dist/index.js',
  'dist/index.d.ts',
  'dist/config.schema.json',
  'dist/inspector/inter-license.txt',
  'dist/docs/llms.txt',
  'dist/docs/llms-small.txt',
  'dist/docs/for-agents.md',
  'dist/docs/reference/fullmcp.md',
  'skills/fullmcp/SKILL.md',
];

process.chdir(root);
/** @type {string[]} */
const failures = [];
/** @type {Set<string>} Files that an earlier entry reached are not reported again. */
const portable = new Set();
withPackage((packed) => {
  checkTarball(packed);
  checkFootprint(packed.unpackedSize);
});
checkEval();
checkCommand();
for (const entry of PORTABLE_ENTRIES) checkPortable(entry);
for (const [entry, most] of Object.entries(ENTRY_BUDGETS)) checkEntrySize(entry, most);
await checkBrowser();
conclude(failures, 'the package is within its budgets');

/** @param {import('./pack.js').Packed} packed */
function checkTarball({ files, unpackedSize }) {
  const paths = files.map(({ path }) => path);
  for (const path of paths) {
    if (!PACKED.test(path))
      failures.push(`The tarball contains ${path}. Remove it from "files" in package.json.`);
  }
  for (const path of MUST_BE_PACKED) {
    if (!paths.includes(path))
      failures.push(`The tarball does not contain ${path}. Write it, or add it to "files" in package.json.`);
  }
  /** @param {RegExp} pattern */
  const bytesOf = (pattern) =>
    files.filter(({ path }) => pattern.test(path)).reduce((sum, { size }) => sum + size, 0);
  const page = bytesOf(/^dist\/inspector\/.*\.(?:br|json)$/);
  const docs = bytesOf(/^(?:dist\/docs|skills)\//);
  budget(
    'The package, unpacked, without the page of the inspector and the documentation,',
    unpackedSize - page - docs,
    UNPACKED_BYTES.rest,
  );
  budget('The page of the inspector in it', page, UNPACKED_BYTES.page);
  budget('The documentation in it', docs, UNPACKED_BYTES.docs);
}

/** @param {number} ownBytes */
function checkFootprint(ownBytes) {
  const dependencies = dependenciesOf(root);
  const bytes = dependencies.reduce((sum, folder) => sum + bytesUnder(folder), ownBytes);
  const count = dependencies.length + 1;
  for (const folder of dependencies) {
    const { scripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const script of ['preinstall', 'install', 'postinstall'])
      if (script in scripts)
        failures.push(`${relative('node_modules', folder)} runs a script when it is installed. Remove it.`);
  }
  if (count > INSTALLED_PACKAGES) {
    const names = dependencies.map((folder) => relative('node_modules', folder)).join(', ');
    failures.push(
      `An install brings ${count} packages; at most ${INSTALLED_PACKAGES} are allowed. Remove one of: ${names}.`,
    );
  }
  budget(`An install (${count} packages)`, bytes, INSTALLED_BYTES);
}

/**
 * The folders of a package's dependencies, direct and indirect. Optional peers are not installed with the package.
 * @param {string} folder
 * @param {Set<string>} [seen]
 * @returns {string[]}
 */
function dependenciesOf(folder, seen = new Set()) {
  const { dependencies = {}, optionalDependencies = {} } = readManifest(folder);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const nested = join(folder, 'node_modules', name);
    const found = existsSync(nested) ? nested : join('node_modules', name);
    if (seen.has(found) || !existsSync(found)) continue;
    seen.add(found);
    dependenciesOf(found, seen);
  }
  return [...seen];
}

function checkEval() {
  for (const file of filesUnder('dist').filter((path) => path.endsWith('.js'))) {
    for (const { line } of evalsOf(tokenize(readFileSync(file, 'utf8')))) {
      failures.push(
        `${file}:${line} compiles code from a string, which edge runtimes reject. Write a function instead.`,
      );
    }
  }
}

/**
 * No import of the library reaches a file of the command, not even later. The command itself loads the check of the version of Node before
 * anything else: on an old Node, other files would not even link.
 */
function checkCommand() {
  for (const file of graphOf('dist/cli/fullmcp.js').keys()) {
    const isCheck = file === 'dist/cli/fullmcp.js' || /^dist\/chunks\/runtime-[^/]+\.js$/.test(file);
    const builtins = importsOf(tokenize(readFileSync(file, 'utf8'))).filter(({ specifier }) =>
      specifier.startsWith('node:'),
    );
    if (!isCheck || builtins.length > 0)
      failures.push(
        `${file} is loaded before the command has checked the version of Node. Import it from src/cli/program.ts.`,
      );
  }
  const seen = new Set(readdirSync('dist').flatMap((name) => (name.endsWith('.js') ? [`dist/${name}`] : [])));
  for (const file of seen)
    for (const { specifier } of importsOf(tokenize(readFileSync(file, 'utf8')))) {
      if (!specifier.startsWith('.')) continue;
      const to = join(dirname(file), specifier);
      if (!to.startsWith('dist/cli/')) seen.add(to);
      else
        failures.push(`${file} imports ${to}, which belongs to the command. The library must not load it.`);
    }
}

/** @param {string} entry */
function checkPortable(entry) {
  for (const [file, path] of graphOf(entry)) {
    if (portable.has(file)) continue;
    portable.add(file);
    const tokens = tokenize(readFileSync(file, 'utf8'));
    const way = `reached from ${path.join(' → ')}`;
    for (const { specifier, line } of importsOf(tokens)) {
      if (!specifier.startsWith('node:') && !NODE_ONLY_PACKAGES.includes(specifier)) continue;
      failures.push(
        `${file}:${line} imports ${specifier}, ${way}. That entry must run everywhere: remove an import on that path.`,
      );
    }
    const evals = file.startsWith('dist/') ? [] : evalsOf(tokens);
    for (const { text, line } of [...globalsOf(tokens, 'process', 'Buffer'), ...evals]) {
      failures.push(
        `${file}:${line} uses ${text}, ${way}. That entry must run everywhere: remove an import on that path.`,
      );
    }
  }
}

/** @param {string} entry @param {{ bytes: number, files: number }} most */
function checkEntrySize(entry, most) {
  const files = [...graphOf(entry).keys()];
  const shipped = files.reduce((sum, file) => sum + statSync(file).size, 0);
  budget(
    `${entry} with ${files.length - 1} files it loads (${kilobytes(shipped)} as shipped), minified and gzipped,`,
    gzipSync(files.map(minified).join('')).length,
    most.bytes,
  );
  if (files.length > most.files)
    failures.push(
      `${entry} loads ${files.length} files; at most ${most.files} are allowed. See scripts/chunks.js: each file costs a part of a millisecond.`,
    );
}

/**
 * Our code with short names for local variables and without white space, as a bundler would shorten it; a dependency as it is.
 * @param {string} file
 */
function minified(file) {
  const code = readFileSync(file, 'utf8');
  if (!file.startsWith('dist/')) return code;
  const { code: short, errors } = minifySync(file, code, {
    module: true,
    compress: { keepNames: { function: true, class: true }, sequences: false, joinVars: false },
    mangle: { keepNames: true },
    codegen: { removeWhitespace: true },
  });
  if (errors.length > 0) throw new Error(`${file} cannot be read: ${errors[0]?.message}`);
  return short;
}

async function checkBrowser() {
  if (!existsSync(BROWSER_ENTRY)) return;
  /** @type {Set<string>} */
  const foreign = new Set();
  const bundle = await rolldown({
    input: BROWSER_ENTRY,
    platform: 'browser',
    external(id) {
      const isForeign = id.startsWith('node:') || NODE_ONLY_PACKAGES.includes(id);
      if (isForeign) foreign.add(id);
      return isForeign;
    },
  });
  const { output: parts } = await bundle.generate({ format: 'esm', minify: true });
  const { output: all } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false });
  await bundle.close();
  for (const id of foreign)
    failures.push(
      `${BROWSER_ENTRY} reaches ${id}. Browsers do not have it: remove the import that leads to it.`,
    );
  const { atOnce, inAll } = BROWSER_GZIP_BYTES;
  budget(`${BROWSER_ENTRY} for browsers, gzipped, at once,`, gzipSync(staticCode(parts)).length, atOnce);
  budget(`${BROWSER_ENTRY} for browsers, gzipped, in all,`, gzipSync(staticCode(all)).length, inAll);
}

/**
 * The code of the first chunk and of those that it imports, in that order.
 * @param {import('rolldown').RolldownOutput['output']} output
 */
function staticCode(output) {
  /** @type {Map<string, string>} */
  const codes = new Map();
  /** @param {string} name */
  const visit = (name) => {
    const chunk = output.find((file) => file.fileName === name);
    if (chunk?.type !== 'chunk' || codes.has(name)) return;
    codes.set(name, chunk.code);
    chunk.imports.forEach(visit);
  };
  visit(output[0].fileName);
  return [...codes.values()].join('');
}

/** @param {string} what @param {number} bytes @param {number} most */
function budget(what, bytes, most) {
  console.log(`${what} is ${kilobytes(bytes)} of ${kilobytes(most)}`);
  if (bytes > most)
    failures.push(
      `${what} is ${kilobytes(bytes)}; at most ${kilobytes(most)} are allowed. Load less, or load it later.`,
    );
}

/**
 * The files that an entry loads by static imports, each with the path to it.
 * @param {string} entry
 * @returns {Map<string, string[]>}
 */
function graphOf(entry) {
  /** @type {Map<string, string[]>} */
  const graph = new Map();
  if (!existsSync(entry)) {
    failures.push(`${entry} does not exist. Write ${entry.replace('dist', 'src').replace(/js$/, 'ts')}.`);
    return graph;
  }
  /** @param {string} file @param {string[]} before */
  const visit = (file, before) => {
    if (graph.has(file)) return;
    const path = [...before, file];
    graph.set(file, path);
    for (const { specifier, dynamic } of importsOf(tokenize(readFileSync(file, 'utf8')))) {
      if (!dynamic && !specifier.startsWith('node:')) visit(resolve(specifier, file), path);
    }
  };
  visit(entry, []);
  return graph;
}

/** @param {string} specifier @param {string} from */
function resolve(specifier, from) {
  if (specifier.startsWith('.')) return join(dirname(from), specifier);
  return relative(root, fileURLToPath(import.meta.resolve(specifier)));
}
