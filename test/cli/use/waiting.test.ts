import { createServer as createHttpServer } from 'node:http';
import { createServer, tool } from 'fullmcp';
import { createNodeHandler } from 'fullmcp/node';
import { expect, onTestFinished, test } from 'vitest';
import { fullmcp } from '../support/run-cli.js';

/** A server that answers nothing before it is released. */
async function slowServer(): Promise<{ url: string; release: () => void }> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer({
    name: 'slow',
    version: '1.0.0',
    tools: { hi: tool({ run: () => 'hello' }) },
  });
  const handler = createNodeHandler(server);
  const http = createHttpServer((request, reply) => void released.then(() => handler(request, reply)));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  return { url: `http://127.0.0.1:${(http.address() as { port: number }).port}/mcp`, release };
}

test.each([
  ['list', []],
  ['call', ['hi']],
  ['bench', ['--requests', '3']],
])('fullmcp %s says on a terminal what it waits for, until the answer comes', async (command, more) => {
  const { url, release } = await slowServer();
  const { exit, stderr } = await fullmcp([command, url, ...more], {
    terminal: true,
    env: { NO_COLOR: '1' },
    onStderr: (written) => {
      if (written.includes('connecting to 127.0.0.1')) release();
    },
  });
  expect(exit).toBe(0);
  expect(stderr).toContain(`connecting to ${new URL(url).host} …`);
  expect(stderr.slice(stderr.lastIndexOf('connecting to'))).toContain('\r\u001b[2K');
});

test('a server that is not ready in time is a failure that names the option of the command', async () => {
  const { url, release } = await slowServer();
  const { exit, stderr } = await fullmcp(['list', url, '--timeout', '300ms']);
  release();
  expect(exit).toBe(7);
  expect(stderr).toContain('--timeout waits longer, as in --timeout 2m.');
  expect(stderr).not.toContain('connectTimeoutMs');
});

test('a tool that does not answer in time is a failure that names the option of the command', async () => {
  const server = createServer({
    name: 'silent',
    version: '1.0.0',
    tools: {
      hang: tool({
        run: (_, { signal }) => new Promise((_done, fail) => signal.addEventListener('abort', fail)),
      }),
    },
  });
  const handler = createNodeHandler(server);
  const http = createHttpServer((request, reply) => void handler(request, reply));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const url = `http://127.0.0.1:${(http.address() as { port: number }).port}/mcp`;
  const { exit, stderr } = await fullmcp(['call', url, 'hang', '--timeout', '1s']);
  expect(exit).toBe(7);
  expect(stderr).toContain('no response and no progress for 1s. --timeout waits longer, as in --timeout 2m.');
});
