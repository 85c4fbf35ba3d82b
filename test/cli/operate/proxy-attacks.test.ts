import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { describe, expect, it } from 'vitest';
import { startHttp } from '../../support/processes.js';
import { soon, until } from '../../support/until.js';
import { folder } from '../check/support.js';
import { afterwards } from './support.js';

// A proxy whose members die, and whose host or operator ends it at the wrong moment. The program itself, as hosts start it.

const program = fileURLToPath(new URL('../../../dist/cli/fullmcp.js', import.meta.url));
const noisy = fileURLToPath(new URL('./fixtures/noisy-member.mjs', import.meta.url));
const files = await folder();

/** A server whose tool waits until it is cancelled. */
async function waitingShop() {
  const seen = { calls: 0, cancelled: 0 };
  const server = createServer({
    name: 'shop',
    version: '1.0.0',
    logger: () => undefined,
    tools: {
      add: tool({ run: () => 'added' }),
      wait: tool({
        run: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            seen.calls += 1;
            signal.addEventListener('abort', () => {
              seen.cancelled += 1;
              reject(new Error('cancelled'));
            });
          }),
      }),
    },
  });
  const running = await serve(server, { port: 0, signals: false });
  afterwards(() => running.close());
  return { url: running.url, seen };
}

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly send: (id: number, method: string, params?: object) => void;
  /** The messages on stdout so far. Throws if a line is not one. */
  readonly messages: () => readonly { id?: number; result?: Record<string, unknown>; error?: object }[];
  readonly exit: () => Promise<number | null>;
}

function start(...words: readonly string[]): Started {
  const child = spawn(process.execPath, [program, 'proxy', ...words]);
  const exited = once(child, 'exit');
  let stdout = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.resume();
  child.stdin.on('error', () => undefined);
  afterwards(() => child.kill('SIGKILL'));
  return {
    child,
    send: (id, method, params = {}) =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`),
    messages: () =>
      stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    exit: async () => (await soon('the end of the program', exited))[0],
  };
}

const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'host', version: '1' },
};

/** Waits for the response to a request. */
async function response({ messages }: Started, id: number) {
  await until(`request ${id} has its response`, () => messages().some((message) => message.id === id));
  return messages().find((message) => message.id === id);
}

/** A host that has a call open. */
async function withOpenCall(seen: { calls: number }, url: string): Promise<Started> {
  const host = start(url);
  host.send(1, 'initialize', HELLO);
  await response(host, 1);
  host.send(2, 'tools/call', { name: 'wait', arguments: {} });
  await until('the call has arrived', () => seen.calls === 1);
  return host;
}

describe('fullmcp proxy', () => {
  it('writes nothing to stdout but messages, whatever its members write', async () => {
    const { url } = await waitingShop();
    const host = start(`shop=${url}`, '--', process.execPath, noisy);
    host.send(1, 'initialize', HELLO);
    expect(await response(host, 1)).toMatchObject({ result: { serverInfo: { name: 'gateway' } } });
    host.send(2, 'tools/call', { name: 'server2_pid', arguments: {} });
    expect(await response(host, 2)).toMatchObject({ result: { content: [{ type: 'text' }] } });
    for (const message of host.messages()) expect(message).toMatchObject({ jsonrpc: '2.0' });
    host.child.stdin.end();
    expect(await host.exit()).toBe(0);
  });

  it('keeps serving the others when a member dies in the middle of a call, and starts it again', async () => {
    const { url } = await waitingShop();
    const args = [program, 'proxy', `shop=${url}`, '--', process.execPath, noisy];
    await using client = await connect({ command: process.execPath, args, stderr: () => undefined });
    const first = (await client.callTool('server2_pid')).text;
    await expect(client.callTool('server2_die')).rejects.toThrow();
    expect((await client.callTool('shop_add')).text).toBe('added');
    await until('the member is started again', async () => {
      const again = await client.callTool('server2_pid').catch(() => undefined);
      return again !== undefined && again.text !== first;
    });
  });

  it('answers with an error when its only target cannot be reached, and ends with its host', async () => {
    const host = start('http://127.0.0.1:1/mcp');
    host.send(1, 'initialize', HELLO);
    expect(await response(host, 1)).toMatchObject({
      error: { message: expect.stringContaining('127.0.0.1:1') },
    });
    host.child.stdin.end();
    expect(await host.exit()).toBe(0);
  });

  it('ends when stdin closes during a call, and the call is cancelled at the server', async () => {
    const { url, seen } = await waitingShop();
    const host = await withOpenCall(seen, url);
    host.child.stdin.end();
    expect(await host.exit()).toBe(0);
    await until('the call is cancelled', () => seen.cancelled === 1);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends at %s during a call', async (signal) => {
    const { url, seen } = await waitingShop();
    const host = await withOpenCall(seen, url);
    host.child.kill(signal);
    await host.exit();
    await until('the call is cancelled', () => seen.cancelled === 1);
    for (const message of host.messages()) expect(message).toMatchObject({ jsonrpc: '2.0' });
  });

  it('over HTTP ends at SIGTERM, and its programs end with it', async () => {
    const file = join(files, 'member.pid');
    const { url, stop } = await startHttp(
      program,
      ...['proxy', '--http', '0', '--', process.execPath, noisy, file],
    );
    await using client = await connect(url);
    const { text } = await client.callTool('pid');
    expect(await readFile(file, 'utf8')).toBe(text);
    await client.close();
    expect(await soon('the end of the program', stop())).toBe(0);
    await until('its program has ended', () => !isAlive(Number(text)));
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
