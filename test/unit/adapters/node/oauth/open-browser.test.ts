import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openBrowser } from '../../../../../src/adapters/node/oauth/open-browser.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import { failureOf } from '../../../../support/failure.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-browser-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** Puts a program in the place of the one that opens URLs. It writes its arguments to a file, one on each line. */
async function install(exitCode: number): Promise<() => Promise<string[]>> {
  const log = join(folder, 'log');
  const script = join(folder, 'xdg-open');
  await writeFile(script, `#!/bin/sh\nprintf '%s\\n' "$@" > '${log}'\nexit ${exitCode}\n`);
  await chmod(script, 0o755);
  vi.stubEnv('PATH', folder);
  return async () => (await readFile(log, 'utf8')).trimEnd().split('\n');
}

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,hello', 'vscode://open'])(
  'a browser is not opened with %s',
  async (url) => {
    const error = await failureOf(McpError, openBrowser(url));
    expect(error.message).toBe(`A browser must not open ${new URL(url).protocol} URLs.`);
  },
);

// The name of the program differs on other systems.
describe.skipIf(process.platform !== 'linux')('on Linux', () => {
  test('the URL is one argument of the program, whatever characters it has', async () => {
    const args = await install(0);
    const url = `https://as.example/authorize?a=$(touch%20x)&b=';rm&c="&d=%60id%60`;
    await openBrowser(url);
    expect(await args()).toEqual([new URL(url).href]);
  });

  test('a URL that begins like an option is not one', async () => {
    const args = await install(0);
    await openBrowser('https://--help/');
    expect(await args()).toEqual(['https://--help/']);
  });

  test('a program that finds no browser is reported with its exit code and with what to do', async () => {
    await install(3);
    const { message } = await failureOf(McpError, openBrowser('https://as.example/'));
    expect(message).toContain('xdg-open failed with exit code 3');
    expect(message).toContain("`flow: 'device'`");
  });

  test('a computer without the program is reported', async () => {
    vi.stubEnv('PATH', folder);
    const { message } = await failureOf(McpError, openBrowser('https://as.example/'));
    expect(message).toContain('xdg-open is not available');
  });
});
