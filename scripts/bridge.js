// Writes src/extensions/apps/bridge-text.ts: the bridge of apps as a string that a server puts into pages. --check only compares.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { conclude, kilobytes, root } from './files.js';

const TARGET = 'src/extensions/apps/bridge-text.ts';
const SOURCE = 'src/extensions/apps/connect-to-host.ts';
const MAX_BYTES = 8_000;
const ENTRY = '\0bridge';

process.chdir(root);
const bundle = await rolldown({
  input: ENTRY,
  platform: 'browser',
  tsconfig: false,
  plugins: [
    {
      name: 'bridge',
      resolveId: (id) => (id === ENTRY ? id : undefined),
      load: (id) =>
        id === ENTRY
          ? `import { connectToHost } from ${JSON.stringify(join(root, SOURCE))}; globalThis.connectToHost = connectToHost;`
          : undefined,
    },
  ],
  resolve: { extensionAlias: { '.js': ['.ts'] } },
});
const { output } = await bundle.generate({ format: 'iife', minify: true });
await bundle.close();
const code = output[0].code.trim();
const text = formatted(
  `// The bridge of apps, minified. Made from connect-to-host.ts by scripts/bridge.js.\n\n/** The code that defines \`connectToHost\` in a page. */\nexport const BRIDGE: string =\n  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code\n  ${JSON.stringify(code)};\n`,
);

/** @type {string[]} */
const failures = [];
if (/<\/script|<!--/i.test(code)) failures.push('The bridge has </script or <!-- in it, which would end it.');
if (output.length !== 1) failures.push('The bridge has more than one file. Import nothing dynamically.');
if (code.length > MAX_BYTES)
  failures.push(`The bridge has ${code.length} bytes; at most ${MAX_BYTES} are allowed. Remove something.`);
if (!process.argv.includes('--check')) writeFileSync(TARGET, text);
else if (readFileSync(TARGET, 'utf8') !== text)
  failures.push(`${TARGET} is not what ${SOURCE} compiles to. Run: node scripts/bridge.js`);
conclude(
  failures,
  `the bridge of apps has ${kilobytes(code.length)}, ${kilobytes(gzipSync(code).length)} gzipped`,
);

/** @param {string} source */
function formatted(source) {
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    ['node_modules/@biomejs/biome/bin/biome', 'format', `--stdin-file-path=${TARGET}`],
    { input: source, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
