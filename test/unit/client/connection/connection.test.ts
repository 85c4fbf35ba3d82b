import { describe, expect, test, vi } from 'vitest';
import { createClient } from '../../../../src/client/create-client.js';
import type { Client } from '../../../../src/client/model/client.js';
import type { ClientOptions } from '../../../../src/client/model/options.js';
import type { Call, Outcome } from '../../../../src/protocol/call.js';
import { McpError } from '../../../../src/protocol/errors.js';
import type { Link, LinkEvents } from '../../../../src/protocol/link.js';
import { until } from '../../../support/until.js';

const done: Outcome = { resultType: 'complete', content: [] };
const lost = new McpError('connection_closed', 'The process ended');

interface ScriptedClient {
  readonly client: Promise<Client>;
  readonly opens: () => number;
  readonly closes: () => number;
  readonly events: () => LinkEvents;
  failing: McpError | undefined;
  answer: (call: Call) => Promise<Outcome>;
}

function scriptedClient(options: ClientOptions = {}, connectTimeoutMs?: number): ScriptedClient {
  let opens = 0;
  let closes = 0;
  let current: LinkEvents | undefined;
  const script: ScriptedClient = {
    opens: () => opens,
    closes: () => closes,
    events: () => current as LinkEvents,
    failing: undefined,
    answer: async () => done,
    client: createClient({
      target: 'scripted',
      options,
      connectTimeoutMs,
      open: async (events, { signal }) => {
        await Promise.resolve();
        if (connectTimeoutMs !== undefined) {
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        }
        opens++;
        current = events;
        if (script?.failing) throw script.failing;
        const link: Link = {
          transport: 'stdio',
          revision: '2026-07-28',
          discovered: { supportedVersions: ['2026-07-28'], capabilities: {} },
          dispatch: (call) => script.answer(call),
          close: async () => {
            closes++;
          },
        };
        return link;
      },
    }),
  };
  return script;
}

describe('a lost connection', () => {
  test('is reopened while calls wait, and the status shows it', async () => {
    const script = scriptedClient({ reconnect: { baseMs: 1 } });
    await using client = await script.client;
    const statuses: unknown[] = [];
    client.on('status', ({ status, reason }) => statuses.push([status, reason?.message]));
    script.events().lost(lost);
    expect(client.status).toBe('reconnecting');

    await client.callTool('x');
    expect(client.status).toBe('ready');
    expect(statuses).toEqual([
      ['reconnecting', 'The process ended'],
      ['ready', undefined],
    ]);
    expect(client.info().reconnects).toBe(1);
    expect(script.closes()).toBe(1);
  });

  test('fails waiting calls with the reason if it cannot be reopened, and is retried', async () => {
    const script = scriptedClient({ reconnect: { baseMs: 1 } });
    await using client = await script.client;
    script.failing = new McpError('connect_failed', 'The command was not found');
    script.events().lost(lost);
    await expect(client.callTool('x')).rejects.toMatchObject({
      code: 'connect_failed',
      message: 'The command was not found',
    });
    script.failing = undefined;
    await until('it is open again', () => client.status === 'ready');
    await client.callTool('x');
  });

  test('is given up after maxAttempts, and the client is closed with the reason', async () => {
    const script = scriptedClient({ reconnect: { baseMs: 1, maxAttempts: 3 } });
    const client = await script.client;
    const reasons: unknown[] = [];
    client.on('status', ({ status, reason }) => status === 'closed' && reasons.push(reason?.message));
    script.failing = new McpError('connect_failed', 'gone');
    script.events().lost(lost);
    await until('it is closed', () => client.status === 'closed');
    expect(script.opens()).toBe(4);
    expect(reasons).toEqual(['gone']);
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'connection_closed' });
    await client.close();
  });

  test('is not reopened if the server rejects the credentials', async () => {
    const script = scriptedClient({ reconnect: { baseMs: 1 } });
    const client = await script.client;
    script.failing = new McpError('unauthorized', 'The token has expired');
    script.events().lost(lost);
    await until('it is closed', () => client.status === 'closed');
    expect(script.opens()).toBe(2);
  });

  test('closes the client if reconnecting is disabled', async () => {
    const script = scriptedClient({ reconnect: false });
    const client = await script.client;
    script.events().lost(lost);
    expect(client.status).toBe('closed');
    await client.close();
    expect(script.opens()).toBe(1);
  });
});

describe('calls that were interrupted', () => {
  test('are retried if they only list', async () => {
    const script = scriptedClient();
    await using client = await script.client;
    let tries = 0;
    script.answer = async (call) => {
      if (++tries < 3) throw lost;
      return call.method === 'tools/list' ? { resultType: 'complete', tools: [] } : done;
    };
    await client.tools().all();
    expect(tries).toBe(3);
  });

  test('are not retried if a tool may have run', async () => {
    const script = scriptedClient();
    await using client = await script.client;
    let tries = 0;
    script.answer = async () => {
      tries++;
      throw lost;
    };
    await expect(client.callTool('pay')).rejects.toMatchObject({ code: lost.code, message: lost.message });
    expect(tries).toBe(1);
  });

  test('are retried for a tool that is read-only, that honours the idempotency key, or that has not run', async () => {
    const script = scriptedClient();
    await using client = await script.client;
    let failures = 0;
    let reason = lost;
    script.answer = async (call) => {
      if (call.method === 'tools/list') {
        const inputSchema = { type: 'object' };
        return {
          resultType: 'complete',
          tools: [
            { name: 'read', inputSchema, annotations: { readOnlyHint: true } },
            { name: 'keyed', inputSchema, _meta: { 'fullmcp/idempotency': { windowMs: 1000 } } },
            { name: 'pay', inputSchema },
          ],
        };
      }
      if (failures-- > 0) throw reason;
      return done;
    };
    await client.tools().all();
    failures = 1;
    await client.callTool('read');
    failures = 1;
    await client.callTool('keyed', {}, { idempotencyKey: 'k' });
    failures = 1;
    await expect(client.callTool('keyed')).rejects.toMatchObject({ code: lost.code, message: lost.message });
    // This server may ignore the key, and then the tool would run twice.
    failures = 1;
    await expect(client.callTool('pay', {}, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: lost.code,
      message: lost.message,
    });
    failures = 1;
    await expect(client.callTool('unlisted', {}, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: lost.code,
      message: lost.message,
    });
    failures = 1;
    reason = new McpError('connect_failed', 'refused', { data: { unsent: true } });
    await client.callTool('pay');
    failures = 1;
    reason = new McpError('overloaded', 'Too many requests', { status: 429, data: { retryAfterMs: 5 } });
    await client.callTool('pay');
    failures = 1;
    reason = new McpError('overloaded', 'Come back tomorrow', {
      status: 429,
      data: { retryAfterMs: 86_400_000 },
    });
    await expect(client.callTool('pay')).rejects.toMatchObject({
      code: reason.code,
      message: reason.message,
    });
  });
});

describe('connecting', () => {
  test('times out after connectTimeoutMs', async () => {
    await expect(scriptedClient({}, 20).client).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('20 ms'),
    });
  });

  test('times out even if opening ignores the signal, and a late link is closed', async () => {
    const close = vi.fn(async () => {});
    let finish: ((link: Link) => void) | undefined;
    const connecting = createClient({
      target: 'x',
      options: {},
      connectTimeoutMs: 20,
      open: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    await expect(connecting).rejects.toMatchObject({ code: 'timeout' });
    const discovered = { supportedVersions: [], capabilities: {} };
    finish?.({ transport: 'stdio', revision: '2026-07-28', discovered, dispatch: async () => done, close });
    await until('it is closed', () => close.mock.calls.length === 1);
  });

  test('fails with the reason if the link cannot be opened', async () => {
    const failure = new McpError('connect_failed', 'no route');
    await expect(
      createClient({
        target: 'x',
        options: {},
        open: async () => {
          throw failure;
        },
      }),
    ).rejects.toMatchObject({ code: failure.code, message: failure.message });
  });

  test('fails and closes the link if the link is lost while it is opened', async () => {
    const close = vi.fn(async () => {});
    await expect(
      createClient({
        target: 'x',
        options: {},
        open: async (events) => {
          events.lost(lost);
          return {
            transport: 'stdio',
            revision: '2026-07-28',
            discovered: { supportedVersions: [], capabilities: {} },
            dispatch: async () => done,
            close,
          };
        },
      }),
    ).rejects.toMatchObject({ code: lost.code, message: lost.message });
    expect(close).toHaveBeenCalledOnce();
  });

  test('stops if the client is closed while it reconnects', async () => {
    const script = scriptedClient({ reconnect: { baseMs: 5 } });
    const client = await script.client;
    script.events().lost(lost);
    const call = client.callTool('x');
    await Promise.all([client.close(), expect(call).rejects.toMatchObject({ code: 'connection_closed' })]);
    expect(client.status).toBe('closed');
    expect(script.opens()).toBe(1);
  });
});

test('the version that a client reports is that of the package', async () => {
  const { fullmcp } = await import('../../../../src/client/model/options.js');
  const { default: manifest } = await import('../../../../package.json', { with: { type: 'json' } });
  expect(fullmcp.version).toBe(manifest.version);
});
