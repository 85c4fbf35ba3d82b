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
import { isAlive } from '../../../support/processes.js';
import { until } from '../../../support/until.js';
import { type NotedServer, notedServer } from '../fixtures/processes.js';

const closeables: { close(): unknown }[] = [];
const servers: NotedServer[] = [];
afterEach(async () => {
  for (const one of closeables.splice(0).reverse()) await one.close();
  for (const one of servers.splice(0)) {
    await until('no process is left', () => !one.pids().some(isAlive));
    one.remove();
  }
});

function start(kind: string): NotedServer {
  const server = notedServer(kind);
  servers.push(server);
  return server;
}

async function open({ target }: NotedServer, options?: ConnectOptions): Promise<Client> {
  const client = await connect(target, { knownServers: new KnownServers(), ...options });
  closeables.push(client);
  return client;
}

async function failure(server: NotedServer, options?: ConnectOptions): Promise<McpError> {
  const error = await open(server, options).catch((error: unknown) => error);
  if (!McpError.is(error)) throw new Error('It did not fail as it should', { cause: error });
  return error;
}

describe('connecting over stdio to a server', () => {
  test.each<[what: string, kind: string, revision: string, methods: string[]]>([
    ['answers the probe', 'modern', '2026-07-28', ['server/discover']],
    ['rejects the probe', 'session', '2025-11-25', ['server/discover', 'initialize']],
    ['answers with something else', 'odd', '2025-11-25', ['server/discover', 'initialize']],
    ['lists only older versions', 'old-versions', '2025-06-18', ['server/discover', 'initialize']],
  ])('that %s finds its era', async (_what, kind, revision, methods) => {
    const server = start(kind);
    const client = await open(server);
    expect(client.info()).toMatchObject({ status: 'ready', revision, transport: 'stdio' });
    expect(client.server.info?.name).toBe(kind);
    expect((await client.callTool('pid')).text).toBe(String(server.pids()[0]));
    expect(server.methods().slice(0, methods.length)).toEqual(methods);
    expect(server.pids()).toHaveLength(1);
  });

  test('that does not answer the probe sends the handshake as well', async () => {
    const server = start('silent');
    const client = await open(server, { probeTimeoutMs: 50 });
    expect(client.server.revision).toBe('2025-11-25');
    expect((await client.callTool('pid')).text).toBe(String(server.pids()[0]));
  });

  test.each(['slow', 'both'])('that was only slow stays modern (%s)', async (kind) => {
    const server = start(kind);
    const client = await open(server, { probeTimeoutMs: 50 });
    expect(client.server.revision).toBe('2026-07-28');
    expect((await client.callTool('pid')).text).toBe(String(server.pids()[0]));
    expect(server.methods().slice(0, 2)).toEqual(['server/discover', 'initialize']);
    // The session of the handshake is not begun.
    expect(server.methods()).not.toContain('notifications/initialized');
  });

  test.each<[what: string, kind: string, revision: string]>([
    ['keeps to the era of the last request', 'keeps-to-the-last', '2025-11-25'],
    ['ignores the probe once it has a session', 'ignores-the-second-probe', '2025-11-25'],
    ['answers the handshake first', 'handshake-first', '2025-11-25'],
    ['never answers the handshake', 'ignores-the-handshake', '2026-07-28'],
    ['answers the handshake long after the probe', 'late-session', '2026-07-28'],
  ])('that was slow and %s can ask, and the client knows its revision', async (_what, kind, revision) => {
    const server = start(kind);
    const client = await open(server, {
      probeTimeoutMs: 50,
      elicit: () => ({ action: 'accept', content: { ok: true } }),
    });
    expect(client.server.revision).toBe(revision);
    expect(JSON.parse((await client.callTool('ask')).text)).toEqual({
      action: 'accept',
      content: { ok: true },
    });
    expect(server.methods().slice(0, 2)).toEqual(['server/discover', 'initialize']);
    expect(server.methods().includes('notifications/initialized')).toBe(revision === '2025-11-25');
    expect(server.pids()).toHaveLength(1);
  });

  test.each(['dies', 'refuses-and-dies'])('that exits at the probe starts it again (%s)', async (kind) => {
    const server = start(kind);
    const client = await open(server);
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
    const connecting = open(server, { signal: giveUp.signal });
    await until('it has received a request', () => server.methods().length > 0);
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
    const client = await open(server, { revision: '2025-06-18' });
    expect(client.server.revision).toBe('2025-06-18');
    expect(server.methods()[0]).toBe('initialize');
  });
});

describe('a known process', () => {
  test('that exits at the probe is not probed again', async () => {
    const server = start('dies');
    const knownServers = new KnownServers();
    await (await open(server, { knownServers })).close();
    await open(server, { knownServers });
    expect(server.pids()).toHaveLength(3);
    expect(server.methods().filter((method) => method === 'server/discover')).toHaveLength(1);
  });

  test('whose era is wrong is probed', async () => {
    const server = start('modern');
    const client = await open(server, { known: { era: 'session', revision: '2025-11-25' } });
    expect(client.server.revision).toBe('2026-07-28');
    expect(server.methods()).toEqual(['initialize', 'server/discover']);
  });

  test('that the option `known` describes is sent nothing before the first call', async () => {
    const server = start('modern');
    const first = await open(server);
    const known = knownServer(first);
    await first.close();
    const client = await open(server, { known });
    expect((await client.callTool('pid')).text).toBe(String(server.pids()[1]));
    expect(server.methods()).toEqual(['server/discover', 'tools/call']);
  });
});

test('a known era at which the process exits is not used for the reconnection', async () => {
  const server = start('dies');
  const discovered = { supportedVersions: ['2026-07-28'], capabilities: {} };
  const client = await open(server, {
    known: { era: 'modern', revision: '2026-07-28', discovered },
    reconnect: { baseMs: 1 },
  });
  await expect(client.request('what/ever')).rejects.toMatchObject({ code: 'connection_closed' });
  expect((await client.callTool('pid')).text).toBe(String(server.pids().at(-1)));
  expect(client.info()).toMatchObject({ revision: '2025-11-25', reconnects: 1 });
});

describe('connecting over WebSocket', () => {
  test.each([
    [undefined, '2026-07-28'],
    ['2025-11-25', '2025-11-25'],
  ] as const)('with the required revision %s uses %s', async (revision, expected) => {
    const server = createServer({
      name: 'ws',
      version: '1',
      tools: {
        who: tool({ run: (_input, context) => context.request?.header('authorization') ?? 'nobody' }),
      },
    });
    const serving = await serve(server, { port: 0, signals: false });
    closeables.push(serving);
    const client = await connect(serving.url.replace('http', 'ws'), {
      knownServers: new KnownServers(),
      ...(revision && { revision }),
    });
    closeables.push(client);
    expect(client.info()).toMatchObject({ transport: 'websocket', revision: expected });
    expect((await client.callTool('who')).text).toBe('nobody');
  });
});
