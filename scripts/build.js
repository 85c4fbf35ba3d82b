// Compiles src to build/modules, bundles that into dist, builds the page of the inspector, compiles examples to build/examples, and writes
// the pages of the package to dist/docs. Does nothing if nothing has changed; --force builds anyway. dist and build/examples are replaced
// when their successors are whole, so that programs that run from them go on meanwhile, and after a build that fails.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, posix } from 'node:path';
import { rolldown } from 'rolldown';
import { buildInspector } from './build-inspector.js';
import { groupsOf } from './chunks.js';
import { filesUnder, root } from './files.js';
import { buildDocs } from './package-docs.js';
import { pruneTypes } from './prune-types.js';

process.chdir(root);
const stamp = 'build/.stamp';
const next = 'build/next';
const configs = ['package.json', 'tsconfig.json', 'tsconfig.build.json'];
const inputs = [...filesUnder('src'), ...filesUnder('inspector'), ...filesUnder('examples'), ...configs];
const print = fingerprint(inputs);

if (process.argv.includes('--force') || !isFresh()) {
  await alone(async () => {
    if (process.argv.includes('--force') || !isFresh()) await build();
  });
}
buildDocs();

async function build() {
  for (const old of [stamp, next, 'build/modules']) rmSync(old, { recursive: true, force: true });
  compile('tsconfig.build.json', '--declarationDir', next);
  const types = filesUnder(next);
  pruneTypes(
    types,
    types.filter((file) => posix.dirname(file) === next),
  );
  // Nobody imports the command.
  rmSync(`${next}/cli`, { recursive: true, force: true });
  await bundleEntries();
  await writeConfigSchema();
  await buildInspector(`${next}/inspector`);
  replace('dist');
  const hasExamples = inputs.some((file) => /^examples\/.*\.ts$/.test(file));
  if (hasExamples && existsSync('examples/tsconfig.json')) {
    compile('examples/tsconfig.json', '--outDir', next);
    replace('build/examples');
  }
  writeFileSync(stamp, print);
}

/** Puts what was built in the place of a folder. @param {string} folder */
function replace(folder) {
  const old = 'build/old';
  rmSync(old, { recursive: true, force: true });
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(next, folder);
  rmSync(old, { recursive: true, force: true });
}

/**
 * Bundles the modules behind each entry. Node takes most of a millisecond to find and open a module, and a server has a
 * hundred of them: separate, they would cost more than the rest of its start. Types stay one file per module.
 */
async function bundleEntries() {
  const entries = filesUnder('src').filter((file) => /^src\/[^/]+\.ts$/.test(file));
  const bundle = await rolldown({
    input: {
      ...Object.fromEntries(
        entries.map((file) => [basename(file, '.ts'), `build/modules/${basename(file, '.ts')}.js`]),
      ),
      'cli/fullmcp': 'build/modules/cli/main.js',
    },
    external: (id) => !/^[./]/.test(id) && !id.startsWith('build/'),
    platform: 'neutral',
    // Groups of modules need it; that no entry exports more than its module does is checked below.
    preserveEntrySignatures: 'allow-extension',
    onLog: (level, log, next) => log.code === 'INEFFECTIVE_DYNAMIC_IMPORT' || next(level, log),
    // Otherwise, a comment before each module would name a file that is not in the package.
    experimental: { attachDebugInfo: 'none' },
  });
  const { output: split } = await bundle.generate({ dir: 'dist', format: 'esm' });
  const { output } = await bundle.generate({
    dir: 'dist',
    format: 'esm',
    codeSplitting: {
      groups: groupsOf(split.filter((file) => file.type === 'chunk')).map(({ name, moduleIds }) => ({
        name,
        test: (id) => moduleIds.has(id),
        includeDependenciesRecursively: false,
      })),
    },
    // Parts of the command are apart, so that nothing of the library can load them unnoticed.
    chunkFileNames: ({ moduleIds }) =>
      `${moduleIds.some((id) => id.includes('/modules/cli/')) ? 'cli' : 'chunks'}/[name]-[hash].js`,
    banner: ({ name }) => (name === 'cli/fullmcp' ? '#!/usr/bin/env node' : ''),
    // Doc comments are in the types, where editors look for them.
    comments: { legal: true, annotation: true, jsdoc: false },
    // The code is shipped as it was written, so that stack traces and debuggers show its names and lines.
    minify: false,
    minifyInternalExports: false,
  });
  await bundle.close();
  checkExports(split, output);
  for (const folder of ['chunks', 'cli']) mkdirSync(`${next}/${folder}`, { recursive: true });
  for (const file of output) if (file.type === 'chunk') writeFileSync(`${next}/${file.fileName}`, file.code);
}

/**
 * Stops the build if an entry exports other names than before its modules were grouped.
 * @param {import('rolldown').RolldownOutput['output']} before @param {import('rolldown').RolldownOutput['output']} after
 */
function checkExports(before, after) {
  for (const file of after) {
    if (file.type !== 'chunk' || !file.isEntry) continue;
    const was = before.find(({ fileName }) => fileName === file.fileName);
    if (was?.type === 'chunk' && [...was.exports].sort().join() === [...file.exports].sort().join()) continue;
    throw new Error(
      `dist/${file.fileName} would export ${file.exports.join(', ')}: more or less than its module does.`,
    );
  }
}

/** The schema of the config file is made from the table that checks the file. */
async function writeConfigSchema() {
  const { configSchema } = await import('../build/modules/adapters/node/config/settings.js');
  writeFileSync(`${next}/config.schema.json`, `${JSON.stringify(configSchema(), undefined, 1)}\n`);
}

/**
 * Waits while another build is running: two at once would delete each other's files.
 * @param {() => Promise<void>} work
 */
async function alone(work) {
  const lock = 'node_modules/.fullmcp-build';
  const release = () => rmSync(lock, { recursive: true, force: true });
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
      if (isLeftBehind(lock)) release();
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
  writeFileSync(`${lock}/pid`, String(process.pid));
  process.once('exit', release);
  await work();
  release();
}

/** Whether the process that holds the lock has died. @param {string} lock */
function isLeftBehind(lock) {
  try {
    process.kill(Number(readFileSync(`${lock}/pid`, 'utf8')), 0);
    return false;
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code !== 'ENOENT') return code === 'ESRCH';
    // A process that has not written its number after this long has died.
    const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {};
    return Date.now() - mtimeMs > 60_000;
  }
}

function isFresh() {
  return existsSync('dist/index.js') && existsSync(stamp) && readFileSync(stamp, 'utf8') === print;
}

/** @param {string} project @param {string[]} options */
function compile(project, ...options) {
  const tsc = ['node_modules/typescript/bin/tsc', '-p', project, ...options];
  const { status } = spawnSync(process.execPath, tsc, { stdio: ['ignore', process.stderr, process.stderr] });
  if (status === 0) return;
  console.error(
    `The build stopped: ${project} does not compile. Fix the errors above and run the build again.`,
  );
  process.exit(1);
}

/**
 * Changes when a file is added, removed, renamed or written.
 * @param {string[]} files
 */
function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex');
}
