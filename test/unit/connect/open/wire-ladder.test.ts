import { afterEach, describe, expect, test } from 'vitest';
import {
  type Client,
  type ConnectOptions,
  connect,
  KnownServers,
  knownServer,
} from '../../../../src/client.js';
import { createServer, tool } from '../../../../src/index.js';
import { serve } from '../../../../src/node.js';
import { McpError } from '../../../../src/protocol/errors.js';
import { until } from '../../../support/until.js';
import { isAlive, type Noted, noted } from '../fixtures/processes.js';

const open: { close(): unknown }[] = [];
const started: Noted[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  for (const one of started.splice(0)) {
    await until('no process is left', () => !one.pids().some(isAlive));
    one.remove();
  }
});

function start(kind: string): Noted {
  const server = noted(kind);
  started.push(server);
  return server;
}

async function connected({ target }: Noted, options?: ConnectOptions): Promise<Client> {
  const client = await connect(target, { knownServers: new KnownServers(), ...options });
  open.push(client);
  return client;
}

async function failure(server: Noted, options?: ConnectOptions): Promise<McpError> {
  const error = await connected(server, options).catch((error: unknown) => error);
  if (!McpError.is(error)) throw new Error('It did not fail as it should', { cause: error });
  return error;
}

describe('connecting over stdio to a server', () => {
  test.each<[what: string, kind: string, revision: string, methods: string[]]>([
    ['answers the probe', 'modern', '2026-07-28', ['server/discover']],
    ['refuses the probe', 'session', '2025-11-25', ['server/discover', 'initialize']],
    ['answers with something else', 'odd', '2025-11-25', ['server/discover', 'initialize']],
    ['names only older versions', 'old-versions', '2025-06-18', ['server/discover', 'initialize']],
  ])('that %s finds its era', async (_what, kind, revision, methods) => {
    const server = start(kind);
    const client = await connected(server);
    expect(client.info()).toMatchObject({ status: 'ready', revision, transport: 'stdio' });
    expect(client.server.info?.name).toBe(kind);
    expect((await client.callTool('pid')).text).toBe(String(server.pids()[0]));
    expect(server.methods().slice(0, methods.length)).toEqual(methods);
    expect(server.pids()).toHaveLength(1);
  });

  test('that is silent also sends the handshake', async () => {
    const server = start('silent');
    const client = await connected(server, { probeTimeoutMs: 50 });
    expect(client.server.revision).toBe('2025-11-25');
    expect((await client.callTool('pid')).text).toBe(String(server.pids()[0]));
  });

  test.each(['slow', 'both'])('that was only slow stays modern (%s)', async (kind) => {
    const server = start(kind);
    const client = await connected(server, { probeTimeoutMs: 50 });
    expect(client.server.revision).toBe('2026-07-28');
    expect((await client.callTool('pid')).text).toBe(String(server.pids()[0]));
    expect(server.methods().slice(0, 2)).toEqual(['server/discover', 'initialize']);
  });

  test.each(['dies', 'refuses-and-dies'])('that exits at the probe starts it again (%s)', async (kind) => {
    const server = start(kind);
    const client = await connected(server);
    expect(client.server.revision).toBe('2025-11-25');
    expect(server.pids()).toHaveLength(2);
    expect((await client.callTool('pid')).text).toBe(String(server.pids()[1]));
  });

  test('that always exits does not start it forever, and the error has its last output', async () => {
    const server = start('broken');
    const error = await failure(server);
    expect(error).toMatchObject({ code: 'connection_closed', data: { exitCode: 3 } });
    expect(error.message).toContain('MY_KEY is not set');
    expect(server.pids()).toHaveLength(2);
  });

  test('that is too new does not send a handshake', async () => {
    const server = start('future');
    expect(await failure(server)).toMatchObject({
      code: 'unsupported_version',
      data: { supported: ['2030-01-01'] },
    });
    expect(server.methods()).toEqual(['server/discover']);
  });

  test('that rejects both fails with both attempts in the error', async () => {
    const server = start('neither');
    expect(await failure(server)).toMatchObject({
      code: 'connect_failed',
      data: {
        attempts: [
          { transport: 'stdio', era: 'modern', code: 'invalid_params' },
          { transport: 'stdio', era: 'session', code: 'method_not_found' },
        ],
      },
    });
  });

  test('whose command does not exist fails with the reason', async () => {
    const error = await connect({ command: 'no-such-command-here' }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect((error as Error).message).toContain('no-such-command-here');
  });

  test('ends the process when it is aborted', async () => {
    const server = start('silent');
    const giveUp = new AbortController();
    const connecting = connected(server, { signal: giveUp.signal });
    await until('it was asked', () => server.methods().length > 0);
    giveUp.abort();
    await expect(connecting).rejects.toMatchObject({ code: 'cancelled' });
    await until('the process is gone', () => !server.pids().some(isAlive));
  });

  test('ends the process when it times out', async () => {
    const server = start('silent');
    const options = { connectTimeoutMs: 500, revision: '2026-07-28' } as const;
    expect(await failure(server, options)).toMatchObject({ code: 'timeout' });
    await until('the process is gone', () => !server.pids().some(isAlive));
  });
});

describe('requiring a revision over stdio', () => {
  test('sends no handshake if it is a modern one', async () => {
    const server = start('session');
    expect(await failure(server, { revision: '2026-07-28' })).toMatchObject({ code: 'invalid_params' });
    expect(server.methods()).toEqual(['server/discover']);
  });

  test('sends no probe if it is one of the session era', async () => {
    const server = start('both');
    const client = await connected(server, { revision: '2025-06-18' });
    expect(client.server.revision).toBe('2025-06-18');
    expect(server.methods()[0]).toBe('initialize');
  });
});

describe('the memory of known processes', () => {
  test('skips the probe for a process that exits at the probe', async () => {
    const server = start('dies');
    const knownServers = new KnownServers();
    await (await connected(server, { knownServers })).close();
    await connected(server, { knownServers });
    expect(server.pids()).toHaveLength(3);
    expect(server.methods().filter((method) => method === 'server/discover')).toHaveLength(1);
  });

  test('is dropped when it was wrong', async () => {
    const server = start('modern');
    const client = await connected(server, { known: { era: 'session', revision: '2025-11-25' } });
    expect(client.server.revision).toBe('2026-07-28');
    expect(server.methods()).toEqual(['initialize', 'server/discover']);
  });

  test('is not needed with the option `known`: nothing is sent before the first call', async () => {
    const server = start('modern');
    const first = await connected(server);
    const known = knownServer(first);
    await first.close();
    const client = await connected(server, { known });
    expect((await client.callTool('pid')).text).toBe(String(server.pids()[1]));
    expect(server.methods()).toEqual(['server/discover', 'tools/call']);
  });
});

test('a known era that ended the process is not used again', async () => {
  const server = start('dies');
  const discovered = { supportedVersions: ['2026-07-28'], capabilities: {} };
  const client = await connected(server, {
    known: { era: 'modern', revision: '2026-07-28', discovered },
    reconnect: { baseMs: 1 },
  });
  await expect(client.request('what/ever')).rejects.toMatchObject({ code: 'connection_closed' });
  expect((await client.callTool('pid')).text).toBe(String(server.pids().at(-1)));
  expect(client.info()).toMatchObject({ revision: '2025-11-25', reconnects: 1 });
});

describe('requiring a revision over WebSocket', () => {
  test.each([
    [undefined, '2026-07-28'],
    ['2025-11-25', '2025-11-25'],
  ] as const)('connects with %s', async (revision, spoken) => {
    const server = createServer({
      name: 'ws',
      version: '1',
      tools: {
        who: tool({ run: (_input, context) => context.request?.header('authorization') ?? 'nobody' }),
      },
    });
    const serving = await serve(server, { port: 0, signals: false });
    open.push(serving);
    const client = await connect(serving.url.replace('http', 'ws'), {
      knownServers: new KnownServers(),
      ...(revision && { revision }),
    });
    open.push(client);
    expect(client.info()).toMatchObject({ transport: 'websocket', revision: spoken });
    expect((await client.callTool('who')).text).toBe('nobody');
  });
});
