// `npm run docs` serves the documentation while it is written, and `npm run docs:build [folder]` writes it as static files, which work under
// any path. The first run installs VitePress, which nothing else of the project needs.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
/** The lock file that was installed, so that a change of it is noticed. */
const stamp = join(here, 'node_modules/.lock-that-was-installed');

const [command, ...options] = process.argv.slice(2);
if (command === 'serve') vitepress('dev', options);
else if (command === 'build') build(options);
else if (command === 'install') install();
else fail(`"${command ?? ''}" is not a command of the site. Run: node site/run.js serve, build or install.`);

/** @param {string[]} options */
function build([folder = 'build/site', ...more]) {
  vitepress('build', ['--outDir', fileURLToPath(new URL(`../${folder}`, import.meta.url)), ...more]);
}

/** @param {string} name @param {string[]} options */
function vitepress(name, options) {
  install();
  run(process.execPath, [join(here, 'node_modules/vitepress/bin/vitepress.js'), name, here, ...options]);
}

function install() {
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  console.log('Installing VitePress, once…');
  run('npm', ['ci', '--prefix', here, '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, lock);
}

/** @param {string} program @param {string[]} args */
function run(program, args) {
  const { status, error } = spawnSync(program, args, {
    stdio: 'inherit',
    shell: program === 'npm' && process.platform === 'win32',
  });
  if (error) fail(error.message);
  if (status !== 0) process.exit(status ?? 1);
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message);
  process.exit(2);
}
