import { createServer, McpError, tool } from 'fullmcp';
import { type AuditEntry, type AuditOptions, type AuditSink, audit } from 'fullmcp/middleware';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Call, Outcome } from '../../../../src/protocol/call.js';
import { inProcessClient } from '../../../support/in-process-client.js';

const outcome: Outcome = { resultType: 'complete' };

function call(parts: Partial<Call> = {}): Call {
  return {
    id: 1,
    method: 'tools/call',
    params: {
      name: 'pay',
      arguments: { amount: 5, token: 'hidden' },
      _meta: { secret: 'meta' },
      requestState: 'state',
    },
    peer: {
      revision: '2026-07-28',
      client: { name: 'cli', version: '2' },
      capabilities: {},
      logLevel: undefined,
    },
    signal: new AbortController().signal,
    notify: () => undefined,
    ...parts,
  };
}

/** A sink that can fail. */
function sink(): AuditSink & {
  readonly entries: AuditEntry[];
  readonly batches: number[];
  error: Error | undefined;
  closed: number;
} {
  const made = {
    entries: [] as AuditEntry[],
    batches: [] as number[],
    error: undefined as Error | undefined,
    closed: 0,
    async write(entries: readonly AuditEntry[]) {
      await new Promise(setImmediate);
      if (made.error !== undefined) throw made.error;
      made.entries.push(...entries);
      made.batches.push(entries.length);
    },
    close() {
      made.closed++;
    },
  };
  return made;
}

const hide = (options: Partial<AuditOptions> & Pick<AuditOptions, 'to'>) => {
  // Tests without a server: what it tells the operator is of no interest.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return audit(options);
};

describe('an audit entry', () => {
  it('says who called what, with which arguments, when, and with what outcome', async () => {
    const to = sink();
    const before = Date.now();
    await audit({ to, about: () => ({ tenant: 'acme', apiKey: 'x' }) })(
      call({
        auth: {
          subject: 'ada',
          issuer: 'https://issuer',
          clientId: 'app',
          scopes: [],
          claims: { password: 'claim' },
        },
        http: { header: () => undefined, remoteAddress: '10.0.0.7' },
      }),
      async () => outcome,
    );
    expect(to.entries).toEqual([
      {
        type: 'call',
        at: expect.any(String),
        call: 1,
        method: 'tools/call',
        name: 'pay',
        caller: { subject: 'ada', issuer: 'https://issuer', clientId: 'app' },
        address: '10.0.0.7',
        client: 'cli 2',
        id: 1,
        params: { arguments: { amount: 5, token: '[redacted]' } },
        about: { tenant: 'acme', apiKey: '[redacted]' },
        outcome: 'ok',
        ms: expect.any(Number),
      },
    ]);
    const { at } = to.entries[0] as AuditEntry;
    expect(Date.parse(at)).toBeGreaterThanOrEqual(before);
    expect(JSON.stringify(to.entries)).not.toMatch(/hidden|meta|state|claim/);
  });

  it.each<[string, Outcome | Error, object]>([
    ['a failed tool', { resultType: 'complete', isError: true }, { outcome: 'tool_error' }],
    ['a question', { resultType: 'input_required' }, { outcome: 'input_required' }],
    ['a task', { resultType: 'task' }, { outcome: 'task' }],
    ['a refusal', new McpError('forbidden', 'not for you'), { outcome: 'error', code: 'forbidden' }],
    ['a bug', new Error('password is hunter2'), { outcome: 'error', code: 'internal_error' }],
  ])('has the outcome of %s, and the caller gets it', async (_, end, expected) => {
    const to = sink();
    const result = audit({ to })(call(), async () => {
      if (end instanceof Error) throw end;
      return end;
    });
    if (end instanceof Error) await expect(result).rejects.toBe(end);
    else expect(await result).toBe(end);
    expect(to.entries).toEqual([expect.objectContaining(expected)]);
    expect(JSON.stringify(to.entries)).not.toContain('hunter2');
  });

  it('is small whatever the peer sends', async () => {
    const to = sink();
    const long = 'x'.repeat(1_000_000);
    await audit({ to })(
      call({
        id: long,
        method: 'resources/read',
        params: { uri: `file:///${long}`, other: Array(100_000).fill(long), [long]: 1 },
        peer: {
          revision: '2026-07-28',
          client: { name: long, version: long },
          capabilities: {},
          logLevel: undefined,
        },
      }),
      async () => outcome,
    );
    await audit({ to })(call({ method: long }), async () => ({ resultType: long }));
    for (const entry of to.entries) expect(JSON.stringify(entry).length).toBeLessThan(20_000);
  });

  it('has a URI without its secrets', async () => {
    const to = sink();
    const params = { uri: 'db://ada:pw@host/table?token=abc&page=2' };
    await audit({ to })(call({ method: 'resources/read', params }), async () => outcome);
    expect(to.entries).toEqual([
      expect.objectContaining({ name: 'db://ada:[redacted]@host/table?token=[redacted]&page=2' }),
    ]);
    expect(to.entries[0]).not.toHaveProperty('params.uri');
  });

  it('is not written for ping, nor for calls that `when` leaves out', async () => {
    const to = sink();
    await audit({ to })(call({ method: 'ping' }), async () => outcome);
    await audit({ to, when: ({ method }) => method !== 'tools/list' })(
      call({ method: 'tools/list' }),
      async () => outcome,
    );
    expect(to.entries).toEqual([]);
  });
});

describe('audit', () => {
  it('answers a call after its entry is written', async () => {
    const to = sink();
    await audit({ to })(call(), async () => outcome);
    expect(to.entries).toHaveLength(1);
  });

  it('writes the entries of calls at the same time together, in the order of their ends', async () => {
    const to = sink();
    const middleware = audit({ to });
    await Promise.all(Array.from({ length: 500 }, () => middleware(call(), async () => outcome)));
    expect(to.batches.reduce((sum, n) => sum + n, 0)).toBe(500);
    expect(to.batches.length).toBeLessThan(5);
    expect(to.entries.map((entry) => (entry as { call: number }).call)).toEqual(
      Array.from({ length: 500 }, (_, n) => n + 1),
    );
  });

  it('with `intent`, writes an entry before the call runs and another one when it ends', async () => {
    const to = sink();
    const seen: number[] = [];
    await audit({ to, intent: true })(call(), async () => {
      seen.push(to.entries.length);
      return outcome;
    });
    expect(seen).toEqual([1]);
    expect(to.entries).toEqual([
      expect.objectContaining({
        type: 'start',
        call: 1,
        params: { arguments: { amount: 5, token: '[redacted]' } },
      }),
      {
        type: 'end',
        at: expect.any(String),
        call: 1,
        method: 'tools/call',
        name: 'pay',
        outcome: 'ok',
        ms: expect.any(Number),
      },
    ]);
  });

  it('withholds a result that it cannot record, refuses calls, and goes on where it stopped', async () => {
    const to = sink();
    const middleware = hide({ to });
    const next = vi.fn(async () => outcome);
    to.error = new Error('ENOSPC');
    await expect(middleware(call(), next)).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('The call ran'),
      data: { reason: 'unknown_outcome' },
      cause: to.error,
    });
    expect(next).toHaveBeenCalledTimes(1);
    for (let n = 0; n < 3; n++)
      await expect(middleware(call(), next)).rejects.toMatchObject({
        code: 'overloaded',
        status: 503,
        data: { retryAfterMs: expect.any(Number) },
        message: expect.stringContaining('did not run'),
      });
    expect(next).toHaveBeenCalledTimes(1);
    to.error = undefined;
    await middleware(call(), next);
    expect(next).toHaveBeenCalledTimes(2);
    expect(to.entries.map((entry) => (entry as { call: number }).call)).toEqual([1, 2]);
  });

  it('with `intent`, does not run a call that it cannot record, and says so later', async () => {
    const to = sink();
    const middleware = hide({ to, intent: true });
    const next = vi.fn(async () => outcome);
    to.error = new Error('ENOSPC');
    await expect(middleware(call(), next)).rejects.toMatchObject({ code: 'overloaded' });
    expect(next).not.toHaveBeenCalled();
    to.error = undefined;
    await middleware(call(), next);
    expect(to.entries.map(({ type, ...more }) => [type, (more as { code?: string }).code])).toEqual([
      ['start', undefined],
      ['end', 'overloaded'],
      ['start', undefined],
      ['end', undefined],
    ]);
  });

  it('with `continue`, answers calls, writes their entries later, and counts those that it could not keep', async () => {
    const to = sink();
    const middleware = hide({ to, onFailure: 'continue', maxPending: 5 });
    to.error = new Error('ENOSPC');
    for (let n = 0; n < 8; n++) expect(await middleware(call(), async () => outcome)).toBe(outcome);
    to.error = undefined;
    await middleware(call(), async () => outcome);
    expect(
      to.entries.map((entry) =>
        entry.type === 'lost' ? `lost ${entry.count}` : (entry as { call: number }).call,
      ),
    ).toEqual([1, 2, 3, 4, 5, 'lost 3', 9]);
  });

  it('tells the operator once that the log fails, and once that it works again', async () => {
    const to = sink();
    const messages: string[] = [];
    const server = createServer({
      name: 'audited',
      version: '1.0.0',
      logger: (level, message) => messages.push(`${level}: ${message}`),
      use: [audit({ to })],
      tools: { add: tool({ input: z.object({ a: z.number() }), run: ({ a }) => a + 1 }) },
    });
    const client = await inProcessClient(server);
    await client.callTool('add', { a: 1 });
    to.error = new Error('ENOSPC');
    for (let n = 0; n < 3; n++) await expect(client.callTool('add', { a: 1 })).rejects.toThrow();
    to.error = undefined;
    await client.callTool('add', { a: 1 });
    await client.close();
    await server.close();
    expect(messages.filter((message) => message.includes('audit'))).toEqual([
      'error: The audit log cannot be written: calls are refused until it can be',
      'info: The audit log is written again',
    ]);
    expect(to.closed).toBe(1);
  });

  it('writes everything before the server is closed, and closes the sink of two servers with the last one', async () => {
    const to = sink();
    const middleware = audit({ to });
    const servers = [1, 2].map(() => createServer({ name: 'audited', version: '1.0.0', use: [middleware] }));
    const pending = middleware(call(), async () => outcome);
    await servers[0]?.close();
    expect(to.closed).toBe(0);
    await servers[1]?.close();
    expect([to.entries.length, to.closed]).toEqual([1, 1]);
    await pending;
  });

  it.each<[object, string]>([
    [{}, 'audit: `to` must be auditFile'],
    [{ to: {} }, 'audit: `to` must be auditFile'],
    [
      { to: () => undefined, onFailure: 'toString' },
      'audit: "onFailure" must be "refuse" or "continue", not "toString".',
    ],
    [{ to: () => undefined, maxPending: 0 }, 'audit: "maxPending" must be an integer, 1 or more, not 0.'],
    [{ to: () => undefined, file: 'x' }, 'audit has no option "file"'],
  ])('rejects the options %j', (options, message) => {
    expect(() => audit(options as AuditOptions)).toThrow(message);
  });
});
