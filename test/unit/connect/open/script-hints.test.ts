import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { connect, KnownServers, McpError } from '../../../../src/client.js';
import { proxy } from '../../../../src/proxy.js';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-scripts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function failure(name: string, text: string): Promise<McpError> {
  const path = join(folder, name);
  writeFileSync(path, text);
  const error = await connect(path, { knownServers: new KnownServers() }).catch((reason) => reason);
  expect(McpError.is(error), String(error)).toBe(true);
  return error;
}

test('a script that exits silently leads to a hint that it must serve', async () => {
  const error = await failure('defines.mjs', 'export default {};');
  expect(error.message).toMatch(
    /defines\.mjs".*exit code 0\.\nA script that exits at once usually defines a server but does not serve it/,
  );
  expect(error.message).toContain('call serveStdio(server) of fullmcp/stdio');
  expect(error.message).toContain(
    `{ command: 'npx', args: ['fullmcp', 'run', '${join(folder, 'defines.mjs')}'] }`,
  );
});

test('a proxy for a script that exits silently gives the same hint', async () => {
  const error = await failure('behind.mjs', 'export default {};');
  await using between = proxy(join(folder, 'behind.mjs'), { logger: () => undefined });
  const other = await connect(between).catch((reason) => reason);
  expect(other.message).toBe(error.message);
});

test.each([
  ['throws', 'throw new Error("DATABASE_URL is not set");', 'DATABASE_URL is not set'],
  ['exits', 'console.error("no config"); process.exit(0);', 'no config'],
  ['prints', 'console.log("usage: x FOLDER");', 'usage: x FOLDER'],
  ['is killed', 'process.kill(process.pid, "SIGKILL");', 'SIGKILL'],
  ['has a mistake', 'import "./nowhere.js";', 'ERR_MODULE_NOT_FOUND'],
])(
  'a script that %s is named with its output or signal, without the hint that it must serve',
  async (name, text, quotation) => {
    const file = `${name.replaceAll(' ', '-')}.mjs`;
    const { message } = await failure(file, text);
    expect(message).toContain(quotation);
    expect(message).toContain(file);
    expect(message).not.toContain('only defines');
  },
);

test('a Python script that crashes leads to no hint about the PATH', async () => {
  const { message, code } = await failure('crash.py', 'raise SystemExit("no config")');
  // Without Python, the error reports that.
  if (code === 'connect_failed') expect(message).toContain('PATH');
  else expect(message).not.toContain('on the PATH');
});
