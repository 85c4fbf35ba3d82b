import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { createServer } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { expect, test, vi } from 'vitest';
import { checkRuntime } from '../../../../../src/protocol/checks/runtime.js';
import { send } from '../../../../support/http/http.js';

// A server that could not be served is closed, so each test has its own.
const fresh = () => createServer({ name: 'quiet', version: '1.0.0' });

test('serve rejects a short secret without throwing synchronously', async () => {
  await expect(serve(fresh(), { port: 0, secret: 'short' })).rejects.toThrow('at least 32 characters');
});

test('serve explains that a port is already in use', async () => {
  await using first = await serve(fresh(), { port: 0, signals: false });
  await expect(serve(fresh(), { port: first.port })).rejects.toThrow(
    `Port ${first.port} is taken. Choose another with PORT or { port }.`,
  );
});

test.each([
  [{ port: 99_999 }, 'serve: "port" must be an integer from 0 to 65535, not 99999.'],
  [{ port: '3000' as never }, 'serve: "port" must be an integer from 0 to 65535, not "3000".'],
  [{ path: 'mcp' }, '"path" must be a path that begins with "/", such as "/mcp", but it is "mcp".'],
  [
    { publicUrl: 'example.com' },
    '"publicUrl" must be a URL such as "https://mcp.example.com/mcp", but it is "example.com".',
  ],
  [{ port: 0, host: '203.0.113.7' }, 'This machine does not have the address 203.0.113.7.'],
])('serve explains what is wrong with %o', async (options, sentence) => {
  await expect(serve(fresh(), options)).rejects.toThrow(sentence);
});

test('a handler explains what is wrong with its path and its URL', () => {
  expect(() => createHandler(fresh(), { path: 'mcp' })).toThrow('"path" must be a path that begins with "/"');
  expect(() => createHandler(fresh(), { publicUrl: '/mcp' })).toThrow('"publicUrl" must be a URL');
});

test('a rejected host or origin is logged once, with the variable that allows it, and at most 20 are logged', async () => {
  const log = vi.fn();
  const server = createServer({ name: 'watched', version: '1.0.0', logger: log });
  await using serving = await serve(server, { port: 0, signals: false });
  const from = (headers: Record<string, string>) =>
    send(serving.url, { method: 'POST', body: '{}', headers });
  for (let times = 0; times < 3; times++) {
    const { status, text } = await from({ host: 'issues:3960' });
    expect(status).toBe(403);
    expect(text).toContain(
      'If it is yours, add it to allowedHosts, or to MCP_ALLOWED_HOSTS, without the port.',
    );
  }
  await from({ origin: 'https://evil.example' });
  expect(log.mock.calls).toEqual([
    ['warning', expect.stringContaining('Host "issues:3960" is not allowed.')],
    ['warning', expect.stringContaining('add it to allowedOrigins, or to MCP_ALLOWED_ORIGINS.')],
  ]);
  for (let host = 0; host < 50; host++) await from({ host: `h${host}.example` });
  expect(log).toHaveBeenCalledTimes(20);
});

/** Runs a program as a file would be run, and returns its stderr. */
function stderrOf(program: string, ...flags: string[]): string {
  const { stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  return stderr;
}

const entry = (name: string): string => JSON.stringify(pathToFileURL(`dist/${name}.js`).href);

test('a port that is already in use ends a program with an error that has no stack trace', async () => {
  await using first = await serve(fresh(), { port: 0, signals: false });
  const stderr = stderrOf(`
    const { createServer } = await import(${entry('index')});
    const { serve } = await import(${entry('node')});
    await serve(createServer({ name: 'x', version: '1' }), { port: ${first.port} });
  `);
  expect(stderr).toContain(`Error: Port ${first.port} is taken. Choose another with PORT or { port }.`);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr.trim().split('\n').length).toBeLessThan(10);
});

const old = (version: string): string =>
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${version}'}})`;

test.each(['index', 'node', 'stdio', 'client', 'proxy', 'gateway'])(
  'fullmcp/%s names the Node version that it needs as soon as it is loaded',
  (name) => {
    const stderr = stderrOf(`await import(${entry(name)});`, '--import', old('20.18.3'));
    expect(stderr).toContain('Error: fullmcp needs Node 20.19 or newer; this is Node 20.18.3.');
  },
);

test('the version check accepts runtimes without Node and recent versions of Node', () => {
  for (const node of ['20.19.0', '20.20.2', '22.0.0', '24.1.0']) checkRuntime({ node });
  checkRuntime(undefined);
  checkRuntime({});
});

test('the version check accepts Bun and Deno, whichever Node they imitate', () => {
  checkRuntime({ node: '20.11.1', deno: '2.0.0' });
  checkRuntime({ node: '18.15.0', bun: '1.1.0' });
});

test.each(['14.21.3', '18.20.8', '20.0.0', '20.11.1', '20.18.3'])(
  'the version check rejects Node %s',
  (node) => {
    expect(() => checkRuntime({ node })).toThrow(`fullmcp needs Node 20.19 or newer; this is Node ${node}.`);
  },
);

test('the version check and package.json name the same oldest version of Node', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
  const oldest = engines.node.replace('>=', '');
  checkRuntime({ node: `${oldest}.0` });
  expect(() => checkRuntime({ node: '0.0.0' })).toThrow(`fullmcp needs Node ${oldest} or newer`);
});

test('the command on a Node that is too old prints one line that names the version it needs, and exits with 2', () => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ['--import', old('20.11.1'), 'dist/cli/fullmcp.js', '--version'],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('fullmcp needs Node 20.19 or newer; this is Node 20.11.1.\n');
  expect(stdout).toBe('');
  expect(status).toBe(2);
});
