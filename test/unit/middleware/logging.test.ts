import { createServer, McpError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type CallLog, type LoggingOptions, logging } from 'fullmcp/middleware';
import { buildCall, toolResult } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';

async function entryOf(
  next: () => Promise<unknown>,
  {
    call = buildCall('tools/call', { name: 'add' }),
    ...options
  }: LoggingOptions & { call?: ReturnType<typeof buildCall> } = {},
): Promise<CallLog> {
  const entries: CallLog[] = [];
  await logging({ log: (entry) => void entries.push(entry), ...options })(call, next as never).catch(
    () => undefined,
  );
  expect(entries).toHaveLength(1);
  return entries[0] as CallLog;
}

const done = async () => toolResult('done');

describe('logging', () => {
  it('logs the facts of a call, and no payload', async () => {
    const call = buildCall(
      'tools/call',
      { name: 'add', arguments: { text: 'private' } },
      {
        id: 7,
        auth: { subject: 'ada', scopes: [], claims: {} },
        http: { header: () => undefined, remoteAddress: '192.0.2.1' },
      },
    );
    const entry = await entryOf(done, { call });
    expect(entry).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'info',
      method: 'tools/call',
      target: 'add',
      end: 'ok',
      ms: expect.any(Number),
      id: 7,
      caller: 'ada',
      address: '192.0.2.1',
      client: 'test 0.0.0',
      revision: '2026-07-28',
    });
  });

  it('names the caller by its subject, and the issuer in a field of its own', async () => {
    const auth = { subject: 'ada', issuer: 'https://login.example.com', scopes: [], claims: {} };
    const entry = await entryOf(done, { call: buildCall('tools/call', { name: 'add' }, { auth }) });
    expect(entry).toMatchObject({ caller: 'ada', issuer: 'https://login.example.com' });
  });

  it.each([
    ['info', 'asks', async () => ({ resultType: 'input_required' })],
    ['warning', 'tool_error', async () => ({ ...toolResult('no'), isError: true })],
    ['warning', 'overloaded', () => Promise.reject(new McpError('overloaded', 'Later'))],
    ['info', 'cancelled', () => Promise.reject(new McpError('cancelled', 'Gone'))],
    ['error', 'internal_error', () => Promise.reject(new Error('broken'))],
  ])('has the level %s for a call that ends with %s', async (level, end, next) => {
    expect(await entryOf(next)).toMatchObject({ level, end });
  });

  it('has the message of an error without its secrets', async () => {
    const entry = await entryOf(() => Promise.reject(new Error('connect with password=hunter2 failed')));
    expect(entry.error).toBe('Error: connect with password=[redacted] failed');
  });

  it('hides secrets in the URI of a resource', async () => {
    const call = buildCall('resources/read', { uri: 'https://a.example/f?token=hunter2&page=2' });
    expect((await entryOf(done, { call })).target).toBe('https://a.example/f?token=[redacted]&page=2');
  });

  it('logs payloads without `_meta` and secrets, if it is told to', async () => {
    const params = { name: 'add', arguments: { apiKey: 'hunter2', iban: 'DE1', n: 1 }, _meta: { long: 'x' } };
    const next = async () => ({ ...toolResult({ token: 'hunter2', sum: 3 }), _meta: { a: 1 } });
    const entry = await entryOf(next, {
      payloads: true,
      redact: ['iban'],
      call: buildCall('tools/call', params),
    });
    expect(entry.params).toEqual({
      name: 'add',
      arguments: { apiKey: '[redacted]', iban: '[redacted]', n: 1 },
    });
    expect(entry.result).toEqual({
      content: [{ type: 'text', text: '{"token":"[redacted]","sum":3}' }],
      structuredContent: { token: '[redacted]', sum: 3 },
    });
  });

  it('writes one short line of JSON to stderr, whatever the peer sends', async () => {
    const lines: string[] = [];
    const spy = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line));
    onTestFinished(() => spy.mockRestore());
    const nasty = `a\nb\r\u2028\u2029\u001b[31m\u009b31m\ud800%s${'x'.repeat(1e6)}`;
    const cyclic: Record<string, unknown> = { nasty, [nasty]: 1n };
    cyclic['self'] = cyclic;
    const call = buildCall(
      'tools/call',
      { name: nasty, arguments: cyclic },
      {
        id: nasty,
        auth: { subject: nasty, scopes: [], claims: {} },
        peer: {
          revision: '2026-07-28',
          client: { name: nasty, version: nasty },
          capabilities: {},
          logLevel: undefined,
        },
      },
    );
    await logging({ payloads: true })(call, () => Promise.reject(new Error(nasty))).catch(() => undefined);
    expect(lines).toHaveLength(1);
    const [line = ''] = lines;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be in a line.
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(line.length).toBeLessThan(10_000);
    expect((JSON.parse(line) as CallLog).target).toContain('a\nb');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('sink');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('sink'))],
  ])('gives the outcome if the function %s', async (_, log) => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    expect(await logging({ log })(buildCall('tools/call'), done)).toEqual(toolResult('done'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('logs a call whose error cannot be read', async () => {
    const error = Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('getter');
      },
    });
    expect((await entryOf(() => Promise.reject(error))).error).toBe('[unreadable]');
    expect((await entryOf(() => Promise.reject(Object.create(null)))).error).toBe('[unreadable]');
  });

  it('logs only the calls that `when` selects', async () => {
    const log = vi.fn();
    const middleware = logging({ log, when: ({ method }) => method !== 'ping' });
    await middleware(buildCall('ping'), done);
    expect(log).not.toHaveBeenCalled();
  });

  it.each<[unknown, string]>([
    [{ maxPayloadChars: 0 }, 'logging: "maxPayloadChars" must be an integer, 1 or more, not 0.'],
    [{ payload: true }, 'logging has no option "payload". Did you mean "payloads"?'],
  ])('rejects the options %j', (options, message) => {
    expect(() => logging(options as LoggingOptions)).toThrow(message);
  });

  it('logs the calls of a server and of a client', async () => {
    const entries: Record<string, CallLog[]> = { server: [], client: [] };
    const to = (end: string) => logging({ log: (entry) => void entries[end]?.push(entry) });
    const server = createServer({
      name: 'logged',
      version: '1.0.0',
      use: [to('server')],
      tools: { add: tool({ input: z.object({ n: z.number() }), run: ({ n }) => n + 1 }) },
    });
    await using client = await connect(server, { use: [to('client')] });
    await client.callTool('add', { n: 1 });
    for (const logged of Object.values(entries))
      expect(logged.filter(({ method }) => method === 'tools/call')).toMatchObject([
        { target: 'add', end: 'ok' },
      ]);
  });
});
