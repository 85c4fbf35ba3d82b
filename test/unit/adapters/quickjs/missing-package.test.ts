import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

// The package as it is built, in a folder where the optional packages are not installed.

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-without-quickjs-'));
const modules = join(folder, 'node_modules');

beforeAll(() => {
  mkdirSync(join(modules, 'fullmcp'), { recursive: true });
  for (const part of ['dist', 'package.json'])
    cpSync(join(root, part), join(modules, 'fullmcp', part), { recursive: true });
  for (const name of ['@cfworker', 'jose', 'oauth4webapi', 'ws'])
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Loads the file of a server with `code`. Returns the line that it prints. */
async function load(): Promise<string> {
  const file = join(folder, 'server.mjs');
  writeFileSync(
    file,
    `import { createServer } from 'fullmcp';
import { quickjs } from 'fullmcp/code';
try {
  await createServer({ name: 'ops', version: '1.0.0', tools: {}, code: { engine: quickjs() } }).start();
  console.log('started');
} catch (error) {
  console.log(error.name + ': ' + error.message);
}`,
  );
  return (await promisify(execFile)(process.execPath, [file])).stdout.trim();
}

test('a server with programs does not start without quickjs-wasi, and says what to install', async () => {
  expect(await load()).toBe(
    'MissingPackageError: quickjs() needs the package "quickjs-wasi". Install it: npm install quickjs-wasi',
  );
});

test('a server with programs does not start with a quickjs-wasi that is too old, and says what to install', async () => {
  const installed = join(modules, 'quickjs-wasi');
  mkdirSync(installed);
  writeFileSync(join(installed, 'package.json'), '{ "name": "quickjs-wasi", "version": "3.3.0" }');
  expect(await load()).toBe(
    'Error: quickjs() needs quickjs-wasi 3.3.1 or newer, and 3.3.0 is installed. Update it: npm install quickjs-wasi@latest',
  );
});

test('a program that may have types is told that they cannot be removed, and which package is missing', async () => {
  const installed = join(modules, 'quickjs-wasi');
  rmSync(installed, { recursive: true, force: true });
  symlinkSync(join(root, 'node_modules/quickjs-wasi'), installed);
  const file = join(folder, 'program.mjs');
  writeFileSync(
    file,
    `import { createServer, inProcess } from 'fullmcp';
import { quickjs } from 'fullmcp/code';
const server = createServer({ name: 'ops', version: '1.0.0', tools: {}, code: { engine: quickjs() } });
const call = inProcess(server);
for (const code of ['return 1;', 'const n = 1;\\nconst m: number = n;\\nreturn m;']) {
  const { content } = await call('tools/call', { name: 'run_code', arguments: { code } });
  console.log(JSON.stringify(content[0].text));
}
await server.close();`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  const [plain, typed] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as string);
  expect(plain).toBe('{"result":1,"calls":0}');
  expect(typed).toMatch(/SyntaxError: /);
  expect(typed).toContain(
    '. If the program has types, write it without them: this server cannot remove them, because the package "@swc/wasm-typescript" is not installed.\n',
  );
});
