import { createServer, McpError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type AuditEntry, audit } from 'fullmcp/middleware';
import { natsDiscovery, serveNats } from 'fullmcp/nats';
import { afterEach, expect, test } from 'vitest';
import { describeWithNats, startNats, useNats } from '../../../../support/engines/nats.js';
import { connectRaw } from '../../../../support/engines/nats-raw.js';
import { Closing, makeServer } from '../../../../support/engines/nats-services.js';
import { soon, until } from '../../../../support/until.js';

describeWithNats('serveNats and connect over NATS', () => {
  const nat = useNats();
  const closing = new Closing();
  afterEach(() => closing.all());

  async function serve(options: Parameters<typeof makeServer>[0] & Record<string, unknown> = {}) {
    const { name, secret, where, ...more } = options;
    const made = makeServer({ ...(name && { name }), ...(secret && { secret }), ...(where && { where }) });
    closing.add(made.server);
    const serving = closing.add(await serveNats(made.server, { url: nat.engine.url, ...more }));
    return { ...made, serving };
  }

  async function client<S = unknown>(options: Parameters<typeof connect>[1] = {}, service = 'tools') {
    return closing.add(await connect<S>(`${nat.engine.url}/${service}`, options));
  }

  test('A typed client calls tools of a service by its URL', async () => {
    const { server } = await serve();
    const typed = await client<typeof server>();
    const sum: number = await typed.tool.add({ a: 1, b: 2 });
    expect(sum).toBe(3);
    expect(typed.info()).toMatchObject({ transport: 'nats' });
    expect(typed.server.revision).toBe('2026-07-28');
    expect(typed.server.info).toMatchObject({ name: 'tools', version: '1.2.3' });
    expect((await typed.tools().all()).map(({ name }) => name)).toContain('add');
  });

  test('Errors of tools and of the protocol arrive as on other transports', async () => {
    await serve();
    const one = await client();
    const failed = await one.callTool('fail', {});
    expect(failed.isError).toBe(true);
    expect(JSON.stringify(failed)).not.toContain('secret details');
    await expect(one.callTool('nope', {})).rejects.toMatchObject({ code: 'invalid_params' });
    const wrong = await one.callTool('add', { a: 'x', b: 1 });
    expect(wrong.isError).toBe(true);
  });

  test('Progress arrives before the response, in order', async () => {
    await serve();
    const one = await client();
    const seen: number[] = [];
    const { text } = await one.callTool('steps', {}, { onProgress: ({ progress }) => seen.push(progress) });
    expect([text, seen]).toEqual(['done', [1, 2, 3]]);
  });

  test('Messages larger than NATS accepts travel in parts, in both directions', async () => {
    await serve();
    const one = await client();
    const text = 'é漢'.repeat(500_000);
    const echoed = await one.callTool('echo', { text });
    expect(echoed.text === text).toBe(true);
    expect((await one.callTool('large', { length: 3_000_000 })).text.length).toBe(3_000_000);
  });

  test('Messages travel in parts however small the messages of NATS are', async () => {
    const engine = await startNats({ config: 'max_payload: 2048' });
    const { server } = makeServer();
    const serving = await serveNats(server, { url: engine.url });
    try {
      await using one = await connect(`${engine.url}/tools`);
      const text = 'é漢'.repeat(20_000);
      expect((await one.callTool('echo', { text })).text === text).toBe(true);
      await using heavy = await connect(`${engine.url}/tools`, { headers: { 'x-heavy': 'x'.repeat(100) } });
      expect((await heavy.callTool('echo', { text })).text === text).toBe(true);
      await expect(
        connect(`${engine.url}/tools`, { headers: { 'x-heavy': 'x'.repeat(3000) }, maxRetries: 0 }),
      ).rejects.toThrow('server/discover was not sent');
    } finally {
      await serving.close();
      await server.close();
      await engine.stop();
    }
  });

  test('Messages beyond the limit are refused with a sentence that names the limit, and the client goes on', async () => {
    await serve({ maxMessageBytes: 100_000 });
    const small = await client({ maxMessageBytes: 50_000 });
    await expect(small.callTool('echo', { text: 'x'.repeat(60_000) })).rejects.toThrow(
      /^tools\/call was not sent: it has \d+ bytes, and a message may have 50000\. Send less/,
    );
    await expect(small.callTool('large', { length: 45_000 })).rejects.toThrow(
      /The answer to tools\/call has more than 50000 bytes/,
    );
    const other = await client();
    await expect(other.callTool('echo', { text: 'x'.repeat(200_000) })).rejects.toThrow(
      'Invalid message: the message has more than 100000 bytes',
    );
    await expect(other.callTool('large', { length: 90_000 })).rejects.toThrow(
      'The result is too large. It was not sent: the message has more than 100000 bytes',
    );
    expect((await other.callTool('add', { a: 1, b: 1 })).text).toBe('2');
    expect((await small.callTool('add', { a: 1, b: 1 })).text).toBe('2');
  });

  test('A cancelled call is cancelled at the replica that runs it, and at no other', async () => {
    const replicas = [await serve({ where: 'a' }), await serve({ where: 'b' })];
    const one = await client();
    const calls = Array.from({ length: 10 }, () => {
      const controller = new AbortController();
      const call = one.callTool('wait', {}, { signal: controller.signal });
      call.catch(() => undefined);
      return { controller, call };
    });
    await until('all calls run', () => replicas.reduce((sum, { seen }) => sum + seen.names.length, 0) === 10);
    calls[0]?.controller.abort();
    await expect(calls[0]?.call).rejects.toMatchObject({ code: 'cancelled' });
    await until('one call was aborted', () => replicas.some(({ seen }) => seen.aborted.length > 0));
    for (const { release } of replicas) release();
    const results = await Promise.all(calls.slice(1).map(({ call }) => call));
    expect(new Set(results.map(({ text }) => text)).size).toBe(2);
    expect(replicas.flatMap(({ seen }) => seen.aborted)).toHaveLength(1);
  });

  test('A call that is cancelled before any replica has accepted it is cancelled all the same', async () => {
    const { seen } = await serve();
    const one = await client();
    const controller = new AbortController();
    const call = one.callTool('wait', {}, { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    await one.callTool('add', { a: 1, b: 1 });
    await until(
      'the call was aborted, or never began',
      () => seen.aborted.length === seen.names.filter((name) => name === 'wait').length,
    );
  });

  test('Two replicas share the calls', async () => {
    await serve({ where: 'a' });
    await serve({ where: 'b' });
    const one = await client();
    const answers = new Map<string, number>();
    for (let n = 0; n < 100; n++) {
      const { text } = await one.callTool('where', {});
      answers.set(text, (answers.get(text) ?? 0) + 1);
    }
    expect([...answers.keys()].sort()).toEqual(['a', 'b']);
    for (const count of answers.values()) expect(count).toBeGreaterThan(10);
  });

  test('A question is answered at whichever replica gets the answer', async () => {
    const secret = 'the same long secret for all replicas';
    await serve({ where: 'a', secret });
    await serve({ where: 'b', secret });
    const asked: string[] = [];
    const one = await client({
      elicit: ({ message }) => {
        asked.push(message);
        return { action: 'accept', content: { name: 'Ada' } };
      },
    });
    const places = new Set<string>();
    for (let n = 0; n < 30; n++) places.add((await one.callTool('ask', {})).text);
    expect([...places].sort()).toEqual(['Ada at a', 'Ada at b']);
    expect(asked).toHaveLength(30);
  });

  test('A subscription hears changes, and again after its replica was closed', async () => {
    const replicas = [await serve({ where: 'a' }), await serve({ where: 'b' })];
    const one = await client({ reconnect: { baseMs: 10, maxMs: 50 } });
    let changes = 0;
    await using _subscription = await one.subscribe(
      { tools: true },
      {
        onChange: () => {
          changes++;
        },
      },
    );
    const announce = (): void => {
      for (const { server } of replicas) server.changed.tools();
    };
    await until('a change arrived', () => {
      announce();
      return changes > 0;
    });
    await replicas[0]?.serving.close();
    await replicas[1]?.serving.close();
    const third = await serve({ where: 'c' });
    replicas.push(third);
    changes = 0;
    await until('a change arrived after the replicas were replaced', () => {
      announce();
      return changes > 1;
    });
  });

  test('Closing a service lets its calls finish, and further calls go to the others', async () => {
    const first = await serve({ where: 'a' });
    const one = await client();
    const waiting = one.callTool('wait', {});
    await until('the call runs', () => first.seen.names.length === 1);
    await serve({ where: 'b' });
    const closed = first.serving.close();
    await until('new calls go to the other', async () => (await one.callTool('where', {})).text === 'b');
    for (let n = 0; n < 20; n++) expect((await one.callTool('where', {})).text).toBe('b');
    first.release();
    expect((await waiting).text).toBe('a');
    await closed;
  });

  test('Calls that do not finish in time are answered when the service is closed', async () => {
    const { serving, seen } = await serve({ drainMs: 50 });
    const one = await client({ reconnect: false, maxRetries: 0 });
    const waiting = one.callTool('wait', {});
    waiting.catch(() => undefined);
    await until('the call runs', () => seen.names.length === 1);
    await serving.close();
    await expect(soon('an error', waiting)).rejects.toMatchObject({
      code: 'connection_closed',
      message: 'The server is shutting down',
    });
    await until('the handler was aborted', () => seen.aborted.length === 1);
  });

  test('A service without an instance is an error at once, which says so', async () => {
    await expect(soon('an error', client({}, 'nobody'))).rejects.toMatchObject({
      code: 'connect_failed',
      message: 'No instance of the service "nobody" is running.',
    });
    await expect(connect(nat.engine.url)).rejects.toThrow('The URL names no service');
    const secret = nat.engine.url.replace('//', '//user:pa55@');
    await expect(connect([`${secret}/nobody`, `${secret}/nobody2`])).rejects.toThrow(
      /^Could not connect\. Tried:\n- nats:\/\/127[^@]*\/nobody \(service\)/,
    );
  });

  test('A call is retried while no instance runs, since it was certainly not sent', async () => {
    const { serving } = await serve();
    const one = await client({ maxRetries: 20 });
    await one.callTool('add', { a: 1, b: 1 });
    await serving.close();
    const call = one.callTool('add', { a: 2, b: 2 });
    await serve();
    expect((await call).text).toBe('4');
  });

  test('More calls than an instance may have open are rejected as overloaded, and retried', async () => {
    const { release, seen } = await serve({ maxOpenCalls: 2 });
    const impatient = await client({ maxRetries: 0 });
    const waiting = [impatient.callTool('wait', {}), impatient.callTool('wait', {})];
    await until('both run', () => seen.names.length === 2);
    await expect(impatient.callTool('add', { a: 1, b: 1 })).rejects.toMatchObject({
      code: 'overloaded',
      message: '2 calls are open on this instance. Retry later.',
    });
    const patient = client({ maxRetries: 20 });
    release();
    await Promise.all(waiting);
    expect((await (await patient).callTool('add', { a: 1, b: 1 })).text).toBe('2');
  });

  test('The caller is identified by the headers of the request', async () => {
    await serve({
      auth: ({ header }: { header: (name: string) => string | undefined }) => {
        const token = header('Authorization');
        if (token === undefined) throw Object.assign(new Error('none'), {});
        return { subject: token.replace('Bearer ', '') };
      },
    });
    const ada = await client({ auth: 'ada' });
    expect((await ada.callTool('whoami', {})).text).toBe('ada');
    const discovery = closing.add(natsDiscovery({ url: nat.engine.url }));
    const bob = closing.add(await connect({ service: 'tools', discovery }, { auth: () => 'bob' }));
    expect((await bob.callTool('whoami', {})).text).toBe('bob');
    const large = await ada.callTool('echo', { text: 'x'.repeat(2_000_000) });
    expect(large.text).toHaveLength(2_000_000);
    await expect(client()).rejects.toThrow('Internal error');
  });

  test('Credentials that `auth` refuses are in the log and in the audit, without the credentials, each reason once a minute', async () => {
    const logged: string[] = [];
    const entries: AuditEntry[] = [];
    const server = createServer({
      ...{ name: 'tools', version: '1.2.3', logger: (_, message) => void logged.push(message) },
      use: [audit({ to: (written) => void entries.push(...written) })],
      tools: { me: tool({ run: () => 'me' }) },
    });
    closing.add(server);
    const auth = ({ header }: { header: (name: string) => string | undefined }) => {
      throw new McpError('unauthorized', `I do not know ${header('Authorization')}.`);
    };
    const serving = closing.add(await serveNats(server, { url: nat.engine.url, auth }));
    const secret = 'a-very-secret-token';
    for (let at = 0; at < 3; at++)
      await expect(client({ auth: secret })).rejects.toMatchObject({ code: 'unauthorized' });
    await until('it is recorded', () => entries.length > 0);
    await serving.close();
    const refusals = logged.filter((line) => line.includes('were refused (401)'));
    expect(refusals[0]).toContain('The credentials of a request were refused (401): I do not know');
    expect(refusals.length).toBeLessThanOrEqual(2);
    expect(entries[0]).toMatchObject({ type: 'refused', status: 401, count: 1 });
    const counted = entries.map((entry) => ('count' in entry ? entry.count : 0));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(3);
    expect(JSON.stringify([logged, entries])).not.toContain(secret);
  });

  test('The connection of NATS is lost and comes back: open calls fail clearly, and the client continues by itself', async () => {
    const { seen } = await serve();
    const one = await client({ reconnect: { baseMs: 10, maxMs: 100 }, maxRetries: 0 });
    const waiting = one.callTool('wait', {});
    waiting.catch(() => undefined);
    await until('the call runs', () => seen.names.length === 1);
    await nat.engine.restart();
    await expect(soon('an error', waiting)).rejects.toMatchObject({ code: 'connection_closed' });
    await until('the handler was aborted', () => seen.aborted.length === 1);
    await until('calls work again', () =>
      one.callTool('add', { a: 1, b: 2 }).then(
        ({ text }) => text === '3',
        () => false,
      ),
    );
  });

  test('NATS is stopped: calls fail in bounded time, and work again when it continues', async () => {
    await serve({ timeoutMs: 1000 });
    const discovery = closing.add(natsDiscovery({ url: nat.engine.url, keepAliveMs: 200, timeoutMs: 1000 }));
    const one = closing.add(
      await connect(
        { service: 'tools', discovery },
        { reconnect: { baseMs: 10, maxMs: 100 }, maxRetries: 0 },
      ),
    );
    await nat.engine.pause();
    try {
      await expect(soon('an error', one.callTool('add', { a: 1, b: 2 }))).rejects.toMatchObject({
        code: 'connection_closed',
      });
    } finally {
      nat.engine.resume();
    }
    await until('calls work again', () =>
      one.callTool('add', { a: 1, b: 2 }).then(
        ({ text }) => text === '3',
        () => false,
      ),
    );
  });

  test('A client that falls silent loses its calls', async () => {
    const { seen } = await serve({ keepAliveMs: 50 });
    const raw = await connectRaw(nat.engine.url);
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const request = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'wait', arguments: {}, _meta: meta },
    };
    raw.publish('mcp.tools', JSON.stringify(request), { reply: '_INBOX.silent.1' });
    await until('the call runs', () => seen.names.length === 1);
    await until('the call was aborted', () => seen.aborted.length === 1);
    expect(String(seen.aborted[0])).toContain('The client does not respond any more');
    await raw.close();
  });

  test('A server whose name is not that of a service needs another', async () => {
    const { server } = makeServer({ name: '@acme/tools' });
    await expect(serveNats(server, { url: nat.engine.url })).rejects.toThrow(
      'The server\'s name "@acme/tools" cannot be the name of a NATS service. Pass another in the option `service`',
    );
    const serving = closing.add(await serveNats(server, { url: nat.engine.url, service: 'acme-tools' }));
    expect(serving.service).toBe('acme-tools');
    expect((await (await client({}, 'acme-tools')).callTool('add', { a: 1, b: 1 })).text).toBe('2');
    await server.close();
  });
});
