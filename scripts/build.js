// Compiles src to build/modules, bundles that into dist, builds the page of the inspector, and compiles examples to build/examples. Does nothing if nothing has
// changed; --force builds anyway.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { rolldown } from 'rolldown';
import { buildInspector } from './build-inspector.js';
import { groupsOf } from './chunks.js';
import { filesUnder, root } from './files.js';
import { pruneTypes } from './prune-types.js';

process.chdir(root);
const stamp = 'build/.stamp';
const configs = ['package.json', 'tsconfig.json', 'tsconfig.build.json'];
const inputs = [...filesUnder('src'), ...filesUnder('inspector'), ...filesUnder('examples'), ...configs];
const print = fingerprint(inputs);

if (process.argv.includes('--force') || !isFresh()) {
  await alone(async () => {
    if (process.argv.includes('--force') || !isFresh()) await build();
  });
}

async function build() {
  rmSync('dist', { recursive: true, force: true });
  rmSync('build', { recursive: true, force: true });
  compile('tsconfig.build.json');
  const types = filesUnder('dist');
  pruneTypes(
    types,
    types.filter((file) => /^dist\/[^/]+$/.test(file)),
  );
  // Nobody imports the command.
  rmSync('dist/cli', { recursive: true, force: true });
  await bundleEntries();
  await writeConfigSchema();
  await buildInspector();
  const hasExamples = inputs.some((file) => /^examples\/.*\.ts$/.test(file));
  if (hasExamples && existsSync('examples/tsconfig.json')) compile('examples/tsconfig.json');
  mkdirSync('build', { recursive: true });
  writeFileSync(stamp, print);
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
  for (const folder of ['chunks', 'cli']) mkdirSync(`dist/${folder}`, { recursive: true });
  for (const file of output) if (file.type === 'chunk') writeFileSync(`dist/${file.fileName}`, file.code);
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
  writeFileSync('dist/config.schema.json', `${JSON.stringify(configSchema(), undefined, 1)}\n`);
}

/**
 * Waits while another build is running: two at once would delete each other's files.
 * @param {() => Promise<void>} work
 */
async function alone(work) {
  const lock = 'node_modules/.fullmcp-build';
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
      // A process that has held the lock for this long has died.
      if (Date.now() > deadline) break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once('exit', release);
  await work();
  release();
}

function isFresh() {
  return existsSync('dist/index.js') && existsSync(stamp) && readFileSync(stamp, 'utf8') === print;
}

/** @param {string} project */
function compile(project) {
  const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], {
    stdio: ['ignore', process.stderr, process.stderr],
  });
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
