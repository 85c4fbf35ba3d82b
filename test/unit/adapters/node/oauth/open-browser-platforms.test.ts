import type { SpawnOptions } from 'node:child_process';
import { EventEmitter } from 'node:events';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openBrowser } from '../../../../../src/adapters/node/oauth/open-browser.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import { failureOf } from '../../../../support/failure.js';

const spawned: {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}[] = [];
vi.mock('node:child_process', () => ({
  spawn(command: string, args: readonly string[], options: SpawnOptions) {
    spawned.push({ command, args, options });
    const child = Object.assign(new EventEmitter(), { unref: () => undefined });
    queueMicrotask(() => {
      child.emit('spawn');
      child.emit('exit', 0);
    });
    return child;
  },
}));

const platforms: [name: string, platform: string, command: string, before: readonly string[]][] = [
  ['Linux', 'linux', 'xdg-open', []],
  ['macOS', 'darwin', '/usr/bin/open', []],
  ['Windows', 'win32', 'rundll32', ['url.dll,FileProtocolHandler']],
];

describe.each(platforms)('on %s', (_, platform, command, before) => {
  const original = process.platform;
  beforeEach(() => {
    spawned.length = 0;
    vi.stubEnv('WSL_DISTRO_NAME', undefined);
    Object.defineProperty(process, 'platform', { value: platform });
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    Object.defineProperty(process, 'platform', { value: original });
  });

  test.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'file://server/share/program.exe',
    'data:text/html,x',
    'vbscript:x',
    'ms-msdt:/id',
    'search-ms:query=x',
    'vscode://x',
    'com.example.app:/x',
    'blob:https://as.example/1',
  ])('no program is started with %s', async (url) => {
    await failureOf(McpError, openBrowser(url));
    expect(spawned).toEqual([]);
  });

  test.each([
    'https://as.example/authorize?a=1&b=2',
    'https://as.example/&calc.exe',
    'https://as.example/?a=$(id)&b=`id`&c=|calc&d=%26&e=^&f=;x',
    'https://as.example/?a="&b=\'',
    'https://--help/',
  ])('%s is one argument of one program, without a shell', async (url) => {
    await openBrowser(url);
    expect(spawned.map((one) => [one.command, ...one.args])).toEqual([
      [command, ...before, new URL(url).href],
    ]);
    expect(spawned[0]?.options.shell).toBeUndefined();
    expect(spawned[0]?.args.at(-1)).not.toMatch(/["\s<>]/);
  });
});
