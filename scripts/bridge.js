// Writes scripts as strings: the two of apps, which are put into pages (the bridge of an app, the relay of a sandbox), and that of the worker
// threads that run programs of models. --check only compares.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { conclude, kilobytes, root } from './files.js';

const page = {
  what: '',
  platform: /** @type {const} */ ('browser'),
  format: /** @type {const} */ ('iife'),
  use: '',
};
const SCRIPTS = [
  {
    source: 'src/extensions/apps/connect-to-host.ts',
    target: 'src/extensions/apps/bridge-text.ts',
    name: 'connectToHost',
    constant: 'BRIDGE',
    maxBytes: 8_000,
    ...page,
  },
  {
    source: 'src/client/apps/relay-app.ts',
    target: 'src/client/apps/relay-text.ts',
    name: 'relayApp',
    constant: 'RELAY',
    maxBytes: 4_000,
    ...page,
  },
  {
    source: 'src/adapters/quickjs/worker/run-worker.ts',
    target: 'src/adapters/quickjs/worker/worker-text.ts',
    name: 'runWorker',
    constant: 'WORKER',
    maxBytes: 12_000,
    what: 'The module that a worker thread runs',
    platform: /** @type {const} */ ('node'),
    format: /** @type {const} */ ('esm'),
    use: 'await runWorker();',
  },
];
const ENTRY = '\0entry';

process.chdir(root);
/** @type {string[]} */
const failures = [];
/** @type {string[]} */
const sizes = [];
for (const script of SCRIPTS) await make(script);
conclude(failures, `the scripts in strings: ${sizes.join(', ')}`);

/** @param {typeof SCRIPTS[number]} script */
async function make(script) {
  const { source, target, name, constant, maxBytes } = script;
  const what = script.what || `The code that defines \`${name}\` in a page`;
  const code = await bundle(script);
  const text = formatted(
    `// ${name} of ${source}, minified by scripts/bridge.js.\n\n/** ${what}. */\nexport const ${constant}: string =\n  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code\n  ${JSON.stringify(code)};\n`,
    target,
  );
  sizes.push(`${name} ${kilobytes(code.length)} (${kilobytes(gzipSync(code).length)} gzipped)`);
  if (/<\/script|<!--/i.test(code)) failures.push(`${name} has </script or <!-- in it, which would end it.`);
  if (code.length > maxBytes)
    failures.push(`${name} has ${code.length} bytes; at most ${maxBytes} are allowed. Remove something.`);
  if (!process.argv.includes('--check')) writeFileSync(target, text);
  else if (!existsSync(target) || readFileSync(target, 'utf8') !== text)
    failures.push(`${target} is not what ${source} compiles to. Run: node scripts/bridge.js`);
}

/** @param {typeof SCRIPTS[number]} script */
async function bundle({ source, name, platform, format, use }) {
  const build = await rolldown({
    input: ENTRY,
    platform,
    external: /^node:/,
    tsconfig: false,
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === ENTRY ? id : undefined),
        load: (id) =>
          id === ENTRY
            ? `import { ${name} } from ${JSON.stringify(join(root, source))}; ${use || `globalThis.${name} = ${name};`}`
            : undefined,
      },
    ],
    resolve: { extensionAlias: { '.js': ['.ts'] } },
  });
  const { output } = await build.generate({ format, minify: true });
  await build.close();
  if (output.length !== 1) failures.push(`${name} has more than one file. Import nothing dynamically.`);
  return output[0].code.trim();
}

/** @param {string} source @param {string} target */
function formatted(source, target) {
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    ['node_modules/@biomejs/biome/bin/biome', 'format', `--stdin-file-path=${target}`],
    { input: source, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
