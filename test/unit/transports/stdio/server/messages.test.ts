import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { modernMessage } from '../../../../support/http/modern.js';
import { initializeMessage } from '../../../../support/http/sessions.js';
import { soon, until } from '../../../../support/until.js';
import { type StdioChild, startStdio, stopStdioChildren } from '../../../../support/wires/stdio-child.js';

afterEach(stopStdioChildren);

const echo = (id: unknown, text: string): Record<string, unknown> =>
  modernMessage('tools/call', { name: 'echo', arguments: { text } }, { id });
const withText = (text: string): object => ({ result: { content: [{ type: 'text', text }] } });

async function stillServes(server: StdioChild): Promise<void> {
  expect(await server.ask(echo('alive', 'still here'))).toMatchObject(withText('still here'));
}

describe('the output of a stdio server', () => {
  test('is the protocol alone, and anything a tool prints goes to standard error', async () => {
    const server = startStdio();
    const answer = await server.ask(modernMessage('tools/call', { name: 'chatty' }, { id: 1 }));
    expect(answer).toMatchObject(withText('quiet'));
    await stillServes(server);
    await until('the output is on standard error', () => server.stderr().includes('half a line'));
    expect(server.stderr()).toContain('console.log in a tool');
    expect(server.stderr()).toContain("{ an: 'object' }");
    expect(server.stderr()).toContain('"forged"');
  });

  test('contains the responses to requests that arrived right before the end of the input', async () => {
    const server = startStdio();
    const slow = modernMessage('tools/call', { name: 'slow' }, { id: 'slow' });
    server.process.stdin.end([echo(1, 'one'), slow, echo(2, 'two')].map((m) => JSON.stringify(m)).join('\n'));
    const answers = [await server.next(), await server.next(), await server.next()];
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 'slow']);
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  test('contains a long response in full, although the process exits after it', async () => {
    const server = startStdio();
    const text = 'x'.repeat(3_000_000);
    server.process.stdin.end(`${JSON.stringify(echo(1, text))}\n`);
    expect(await server.next()).toMatchObject(withText(text));
    expect((await server.exited).code).toBe(0);
  });

  test('ends the process if nobody reads it and more than maxBufferedBytes wait', async () => {
    const server = startStdio('server.mjs', { env: { OPTIONS: '{"maxBufferedBytes":4000000}' } });
    server.send(modernMessage('tools/call', { name: 'flood' }, { id: 1, meta: { progressToken: 'p' } }));
    // Never read: the harness takes nothing from the pipe before `next`.
    expect(await soon('The end', server.exited)).toEqual({ code: 0, signal: null });
    expect(server.notes()).toContain('flood aborted');
  });
});

describe('a stdio client that requests more than it reads', () => {
  const ids = (count: number): number[] => Array.from({ length: count }, (_, id) => id);
  const call = (name: string, id: number, args = {}): object =>
    modernMessage('tools/call', { name, arguments: args }, { id });

  test('gets all of 250 long responses, once it reads them', async () => {
    // Ten times the limit of unread bytes of other messages.
    const server = startStdio('server.mjs', { env: { OPTIONS: '{"maxBufferedBytes":2500000}' } });
    server.send(...ids(250).map((id) => call('big', id, { size: 100_000 })));
    // The pipe is full, and so is the read-ahead buffer of the harness.
    const { stdout } = server.process;
    stdout.on('readable', () => undefined);
    await until('the pipe is full', () => stdout.readableLength >= stdout.readableHighWaterMark);
    stdout.removeAllListeners('readable');
    const received = new Set<number>();
    while (received.size < 250) {
      const { id, result } = await server.next();
      expect(result.content[0].text).toHaveLength(100_000);
      received.add(id);
    }
    await stillServes(server);
  });

  test('gets all its responses if it has more calls open than allowed', async () => {
    const server = startStdio('server.mjs', { env: { OPTIONS: '{"maxOpenCalls":20}' } });
    server.send(...ids(100).map((id) => call('slow', id)));
    const received = new Set<number>();
    while (received.size < 100) {
      const answer = await server.next();
      expect(answer).toMatchObject(withText('slow'));
      received.add(answer['id']);
    }
  });

  test('gets an error if too many calls are open, and can still cancel them', async () => {
    const server = startStdio('server.mjs', { env: { OPTIONS: '{"maxOpenCalls":2}' } });
    const cancel = (requestId: number): object => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId },
    });
    server.send(call('hang', 1), call('hang', 2), echo(3, 'too many'), cancel(1), cancel(2));
    expect(await server.next()).toMatchObject({
      id: 3,
      error: { code: -32603, message: expect.stringContaining('2 calls are open') },
    });
    await until('both are aborted', () => server.notes().filter((note) => note === 'aborted').length === 2);
    await stillServes(server);
  });

  test('gets a response to each of 20,000 messages that cannot be read', async () => {
    const server = startStdio();
    server.write('{\n'.repeat(20_000));
    for (let at = 0; at < 20_000; at++) expect((await server.next())['error'].code).toBe(-32700);
    await stillServes(server);
  });
});

describe('a pipe with both eras', () => {
  test('serves server/discover, then a handshake, and then calls of both eras', async () => {
    const server = startStdio();
    expect(await server.ask(modernMessage('server/discover', {}, { id: 1 }))).toMatchObject({
      result: { supportedVersions: ['2026-07-28'] },
    });
    expect(await server.ask(initializeMessage('2025-11-25'))).toMatchObject({
      result: { protocolVersion: '2025-11-25', serverInfo: { name: 'stdio' } },
    });
    server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const list = await server.ask({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect(list['result'].tools.length).toBeGreaterThan(3);
    expect(list['result'].resultType).toBeUndefined();
    const modern = await server.ask(modernMessage('tools/list', {}, { id: 3 }));
    expect(modern['result'].resultType).toBe('complete');
  });

  test('serves everything in one write, including the handshake', async () => {
    const server = startStdio();
    server.send(
      initializeMessage('2025-06-18'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' } } },
      echo(3, 'b'),
    );
    const answers = [await server.next(), await server.next(), await server.next()];
    expect(answers.find(({ id }) => id === 'init')).toMatchObject({
      result: { protocolVersion: '2025-06-18' },
    });
    expect(answers.find(({ id }) => id === 2)).toMatchObject(withText('a'));
    expect(answers.find(({ id }) => id === 3)).toMatchObject(withText('b'));
  });

  test('rejects a call before the handshake, but not a ping', async () => {
    const server = startStdio();
    expect(await server.ask({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('initialize') },
    });
    expect(await server.ask({ jsonrpc: '2.0', id: 2, method: 'ping' })).toMatchObject({ result: {} });
  });

  test('announces changes of a resource that a session subscribes to, until it unsubscribes', async () => {
    const server = startStdio();
    await server.ask(initializeMessage('2025-11-25'));
    server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const request = (id: number, method: string, params: object): object => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    });
    const uri = 'config://app';
    expect(await server.ask(request(1, 'resources/subscribe', { uri }))).toMatchObject({ result: {} });
    server.send(request(2, 'tools/call', { name: 'touch' }));
    const two = [await server.next(), await server.next()];
    expect(two).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } },
        expect.objectContaining({ id: 2 }),
      ]),
    );
    await server.ask(request(3, 'resources/unsubscribe', { uri }));
    server.send(request(4, 'tools/call', { name: 'touch' }));
    expect(await server.next()).toMatchObject({ id: 4 });
    await stillServes(server);
  });
});

describe('the framing of stdio', () => {
  test('accepts CR LF, a byte order mark, and empty lines', async () => {
    const server = startStdio();
    server.write(`\uFEFF${JSON.stringify(echo(1, 'crlf'))}\r\n\r\n\n${JSON.stringify(echo(2, 'lf'))}\n`);
    expect(await server.next()).toMatchObject({ id: 1, ...withText('crlf') });
    expect(await server.next()).toMatchObject({ id: 2, ...withText('lf') });
  });

  test('accepts a message cut into many writes, even within a character', async () => {
    const server = startStdio();
    await server.ready();
    const bytes = Buffer.from(`${JSON.stringify(echo(1, '漢字🙂é'))}\n`);
    for (const byte of bytes) {
      server.write(Buffer.from([byte]));
      if (server.process.stdin.writableNeedDrain) await once(server.process.stdin, 'drain');
    }
    expect(await server.next()).toMatchObject(withText('漢字🙂é'));
  });

  test('rejects a 256 MB line, serves the next message, and bounds the memory', async () => {
    const server = startStdio('server.mjs', { nodeArgs: ['--expose-gc'] });
    const measure = async (id: number): Promise<{ rss: number; arrayBuffers: number; heapUsed: number }> =>
      (await server.ask(modernMessage('tools/call', { name: 'memory' }, { id })))['result'].structuredContent;
    const before = await measure(1);
    const MEGABYTES = 256;
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    server.write('{"jsonrpc":"2.0","id":9,"method":"');
    for (let at = 0; at < MEGABYTES; at++) {
      server.write(megabyte);
      if (server.process.stdin.writableNeedDrain) await once(server.process.stdin, 'drain');
    }
    server.write('"}\n');
    expect(await server.next()).toMatchObject({
      id: 9,
      error: { code: -32600, message: expect.stringContaining('16777216') },
    });
    // At most twice the limit of 16 MB is kept. The rest is room for chunks that were read and not collected yet,
    // which is the allocator's choice: tens of megabytes, whatever the length of the line.
    expect((await measure(2)).rss - before.rss).toBeLessThan(MEGABYTES * megabyte.length);
    let id = 3;
    await until('the memory of the line is freed', async () => {
      const { arrayBuffers, heapUsed } = await measure(id++);
      return arrayBuffers - before.arrayBuffers + heapUsed - before.heapUsed < 4 * 1024 * 1024;
    });
    await stillServes(server);
  });
});

describe('a bad message on stdio', () => {
  test.each<[what: string, line: string, code: number, id: unknown]>([
    ['malformed JSON', '{"jsonrpc"', -32700, undefined],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, undefined],
    ['a fractional id', '{"jsonrpc":"2.0","id":0.5,"method":"ping"}', -32600, undefined],
    ['a wrong jsonrpc', '{"jsonrpc":"1.0","id":4,"method":"ping"}', -32600, 4],
    ['10,000 levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, -32600, undefined],
    ['10,000 levels that never close', '{"a":'.repeat(10_000), -32700, undefined],
    ['a batch outside of a session', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, undefined],
    ['an empty batch', '[]', -32600, undefined],
  ])('is answered with an error: %s', async (_what, line, code, id) => {
    const server = startStdio();
    server.write(`${line}\n`);
    const answer = await server.next();
    expect(answer).toMatchObject({ error: { code } });
    expect(answer.id).toBe(id);
    await stillServes(server);
  });

  test('is answered with an error for an unknown method, in both eras', async () => {
    const server = startStdio();
    expect(await server.ask(modernMessage('no/such', {}, { id: 1 }))).toMatchObject({
      error: { code: -32601 },
    });
    await server.ask(initializeMessage('2025-11-25'));
    expect(await server.ask({ jsonrpc: '2.0', id: 2, method: 'no/such' })).toMatchObject({
      error: { code: -32601 },
    });
  });

  test('is answered with an error for an id that is already open', async () => {
    const server = startStdio();
    const hang = modernMessage('tools/call', { name: 'hang' }, { id: 5 });
    server.send(hang);
    await until('the call hangs', () => server.notes().includes('hanging'));
    server.send(hang);
    expect(await server.next()).toMatchObject({ id: 5, error: { code: -32600 } });
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } });
    await until('the call is aborted', () => server.notes().includes('aborted'));
    // A cancelled call gets no response, and its id may be used again.
    expect(await server.ask(echo(5, 'free'))).toMatchObject(withText('free'));
  });
});

test('two calls on stdio whose ids differ only in their type, string and number, are both served', async () => {
  const server = startStdio();
  server.send(modernMessage('tools/call', { name: 'slow' }, { id: '5' }), echo(5, 'number'));
  expect(await server.next()).toMatchObject({ id: 5, ...withText('number') });
  expect(await server.next()).toMatchObject({ id: '5', ...withText('slow') });
});

describe('batches on stdio', () => {
  const request = (id: unknown, name: string, args = {}): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  });

  async function session(revision = '2025-03-26'): Promise<StdioChild> {
    const server = startStdio();
    await server.ask(initializeMessage(revision));
    server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return server;
  }

  test('in a session of 2025-03-26 get one array with a response to each request', async () => {
    const server = await session();
    server.send([
      request(1, 'slow'),
      { jsonrpc: '2.0', method: 'notifications/unknown' },
      request(2, 'echo', { text: 'b' }),
      { jsonrpc: '2.0', id: null, method: 'ping' },
    ]);
    const answers = (await server.next()) as unknown as Record<string, unknown>[];
    expect(answers).toHaveLength(3);
    expect(answers.find(({ id }) => id === 1)).toMatchObject(withText('slow'));
    expect(answers.find(({ id }) => id === 2)).toMatchObject(withText('b'));
    expect(answers.find(({ id }) => id === undefined)).toMatchObject({ error: { code: -32600 } });
  });

  test('of notifications alone get no response', async () => {
    const server = await session();
    server.send([{ jsonrpc: '2.0', method: 'notifications/unknown' }]);
    await stillServes(server);
  });

  test('with a cancelled call get the responses to the other calls', async () => {
    const server = await session();
    server.send([request(1, 'hang'), request(2, 'echo', { text: 'b' })]);
    await until('the call hangs', () => server.notes().includes('hanging'));
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    const answers = (await server.next()) as unknown as Record<string, unknown>[];
    expect(answers.map(({ id }) => id)).toEqual([2]);
    await stillServes(server);
  });

  test.each<[what: string, batch: object[]]>([
    ['empty', []],
    [
      'larger than 100 messages',
      Array.from({ length: 101 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
    ],
  ])('that are %s are rejected in 2025-03-26', async (_what, batch) => {
    const server = await session();
    server.send(batch);
    expect(await server.next()).toMatchObject({ error: { code: -32600 } });
    await stillServes(server);
  });

  test.each(['2024-11-05', '2025-06-18', '2025-11-25'])('are rejected in %s', async (revision) => {
    const server = await session(revision);
    server.send([request(1, 'echo', { text: 'a' })]);
    expect(await server.next()).toMatchObject({ error: { code: -32600 } });
    await stillServes(server);
  });
});
