// Compiles src to dist and examples to build/examples. Does nothing when nothing changed; --force builds anyway.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { filesUnder, root } from './files.js';

process.chdir(root);
const stamp = 'build/.stamp';
const configs = ['package.json', 'tsconfig.json', 'tsconfig.build.json'];
const inputs = [...filesUnder('src'), ...filesUnder('examples'), ...configs];
const print = fingerprint(inputs);

if (process.argv.includes('--force') || !isFresh()) {
  alone(() => {
    if (process.argv.includes('--force') || !isFresh()) build();
  });
}

function build() {
  rmSync('dist', { recursive: true, force: true });
  rmSync('build', { recursive: true, force: true });
  compile('tsconfig.build.json');
  const hasExamples = inputs.some((file) => /^examples\/.*\.ts$/.test(file));
  if (hasExamples && existsSync('examples/tsconfig.json')) compile('examples/tsconfig.json');
  mkdirSync('build', { recursive: true });
  writeFileSync(stamp, print);
}

/**
 * Waits while another build is under way: two at once would take each other's files away.
 * @param {() => void} work
 */
function alone(work) {
  const lock = 'node_modules/.fullmcp-build';
  const givenUp = Date.now() + 120_000;
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
      // Whoever held it for this long has died.
      if (Date.now() > givenUp) break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once('exit', release);
  work();
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
  console.error(`The build stopped: ${project} does not compile. Fix the errors above and run it again.`);
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
