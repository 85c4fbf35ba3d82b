import { describe, expect, test } from 'vitest';
import { type Answer, openPipe } from '../../support/wires/pipe.js';
import { call, initialize, initialized, modern, request } from './traced.js';

// Observed behaviour of real clients on a pipe that servers often handle wrongly.

describe('a pipe that serves two eras', () => {
  test('accepts server/discover, then initialize with ids that start again', async () => {
    await using pipe = openPipe();
    pipe.write(modern('server-discover-probe-1', 'server/discover'));
    const probe = await pipe.answerTo('server-discover-probe-1');
    expect(probe.result).toMatchObject({ supportedVersions: expect.arrayContaining(['2026-07-28']) });
    pipe.write(initialize(0));
    expect((await pipe.answerTo(0)).result).toMatchObject({ protocolVersion: '2025-11-25' });
    pipe.write(initialized, request(1, 'tools/list'));
    expect((await pipe.answerTo(1)).result).toHaveProperty('tools');
  });

  test('accepts server/discover, then initialize with ids that continue', async () => {
    await using pipe = openPipe();
    pipe.write(modern(0, 'server/discover'));
    await pipe.answerTo(0);
    pipe.write(initialize(1, '2025-11-25'));
    expect((await pipe.answerTo(1)).result).toMatchObject({ serverInfo: { name: 'interop' } });
  });

  const rejectedProbes: Record<string, object> = {
    'of an unknown revision': {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2099-01-01',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
    'without metadata': {},
  };
  test.each(Object.entries(rejectedProbes))(
    'stays usable after a rejected probe %s',
    async (_name, params) => {
      await using pipe = openPipe();
      pipe.write(request('server-discover-probe-1', 'server/discover', { ...params }));
      expect((await pipe.answerTo('server-discover-probe-1')).error).toMatchObject({
        code: expect.any(Number),
      });
      pipe.write(initialize(0));
      expect((await pipe.answerTo(0)).result).toMatchObject({ protocolVersion: '2025-11-25' });
      pipe.write(initialized, request(1, 'tools/call', call('add', { a: 1, b: 2 })));
      expect((await pipe.answerTo(1)).result).toMatchObject({ content: [{ text: '3' }] });
    },
  );

  test('answers tools/list as its very first request', async () => {
    await using pipe = openPipe();
    pipe.write(modern(0, 'tools/list'));
    expect((await pipe.answerTo(0)).result).toMatchObject({
      tools: expect.any(Array),
      resultType: 'complete',
    });
  });

  test('acknowledges a subscription between two server/discover requests, and sends nothing to it after it is cancelled', async () => {
    await using pipe = openPipe();
    pipe.write(modern('server-discover-probe-1', 'server/discover'));
    await pipe.answerTo('server-discover-probe-1');
    pipe.write(modern('listen:0', 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    const isAcknowledgement = ({ method }: Answer): boolean =>
      method === 'notifications/subscriptions/acknowledged';
    expect((await pipe.find('The acknowledgement', isAcknowledgement)).params).toMatchObject({
      notifications: { toolsListChanged: true },
      _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen:0' },
    });
    pipe.write(modern(0, 'server/discover'));
    expect((await pipe.answerTo(0)).result).toHaveProperty('supportedVersions');
    pipe.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'listen:0' } });
    pipe.write(modern(1, 'tools/call', call('grow', { name: 'unreported' })), modern(2, 'tools/list'));
    await pipe.answerTo(2);
    expect(pipe.received.filter(({ method }) => method === 'notifications/tools/list_changed')).toEqual([]);
  });
});

describe('several clients behind one pipe', () => {
  test('may each initialize again, and get their own ids back', async () => {
    await using pipe = openPipe();
    const [first, second] = ['2f1c9e0a-8f5e-4c59-9b0a-0d6f4f1e7a11', '9d7e3b52-1c44-4f0e-8a6b-5b1f6a2c3d4e'];
    pipe.write(initialize(`${first}:0`), initialized);
    await pipe.answerTo(`${first}:0`);
    pipe.write(request(`${first}:1`, 'tools/call', call('gate', { key: first })));
    pipe.write(initialize(`${second}:0`, '2025-06-18'), initialized);
    expect((await pipe.answerTo(`${second}:0`)).result).toMatchObject({ protocolVersion: '2025-06-18' });
    pipe.write(request('whose', 'tools/call', call('client')));
    expect((await pipe.answerTo('whose')).result).toMatchObject({
      structuredContent: { revision: '2025-06-18' },
    });
    pipe.write(request(`${second}:1`, 'tools/call', call('open', { key: first })));
    expect((await pipe.answerTo(`${second}:1`)).result).toMatchObject({ content: [{ text: 'opened' }] });
    expect((await pipe.answerTo(`${first}:1`)).result).toMatchObject({
      content: [{ text: `${first} is open` }],
    });
  });

  test('may send responses that no request waits for, which are ignored', async () => {
    await using pipe = openPipe();
    pipe.write(initialize(0, '2025-11-25', { elicitation: {} }), initialized);
    await pipe.answerTo(0);
    pipe.write(
      { jsonrpc: '2.0', id: 4711, error: { code: -32601, message: 'Method not found' } },
      { jsonrpc: '2.0', id: null, error: { code: -32601, message: 'Method not found' } },
      { jsonrpc: '2.0', id: 'mangled', result: { action: 'accept' } },
      request(1, 'ping'),
    );
    expect((await pipe.answerTo(1)).result).toEqual({});
    expect(pipe.received.map(({ id }) => id)).toEqual([0, 1]);
  });
});

describe('a server on a pipe', () => {
  test('serves a client that starts it for one request: a handshake, the request, SIGTERM', async () => {
    await using pipe = openPipe();
    const id = 'init_1794787200000_k3v9x2';
    pipe.write(initialize(id, '2024-11-05'));
    expect((await pipe.answerTo(id)).result).toMatchObject({ protocolVersion: '2024-11-05' });
    pipe.write(initialized, initialized, request(7, 'tools/list'));
    expect((await pipe.answerTo(7)).result).toHaveProperty('tools');
    expect(await pipe.end('SIGTERM')).toBe(0);
  });

  test('answers three list requests that come in one write with the initialized notification', async () => {
    await using pipe = openPipe();
    pipe.write(initialize(0));
    await pipe.answerTo(0);
    pipe.write(
      initialized,
      request(1, 'tools/list'),
      request(2, 'prompts/list'),
      request(3, 'resources/list'),
    );
    expect((await pipe.answerTo(1)).result).toHaveProperty('tools');
    expect((await pipe.answerTo(2)).result).toHaveProperty('prompts');
    expect((await pipe.answerTo(3)).result).toHaveProperty('resources');
  });

  test('answers a handshake and a request that come in one write', async () => {
    await using pipe = openPipe();
    pipe.write(initialize(0), initialized, request(1, 'tools/list'));
    expect((await pipe.answerTo(0)).result).toHaveProperty('serverInfo');
    expect((await pipe.answerTo(1)).result).toHaveProperty('tools');
  });

  const ids = [
    '0',
    0,
    'a b"c\\d\u2028é',
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    '9007199254740993',
  ];
  test.each(ids)('returns the id %j unchanged', async (id) => {
    await using pipe = openPipe();
    pipe.write(modern(id, 'tools/call', call('say', { text: 'x' })));
    expect((await pipe.answerTo(id)).result).toMatchObject({ content: [{ text: 'x' }] });
  });

  test('answers calls in the order they end, not in the order they arrived', async () => {
    await using pipe = openPipe();
    pipe.write(initialize(0), initialized);
    await pipe.answerTo(0);
    pipe.write(
      request(8, 'tools/call', call('gate', { key: 'order' })),
      request(6, 'tools/call', call('say', { text: 'six' })),
      request(7, 'tools/call', call('say', { text: 'seven' })),
    );
    await Promise.all([pipe.answerTo(6), pipe.answerTo(7)]);
    expect(pipe.received.map(({ id }) => id)).not.toContain(8);
    pipe.write(request(9, 'tools/call', call('open', { key: 'order' })));
    expect((await pipe.answerTo(8)).result).toMatchObject({ content: [{ text: 'order is open' }] });
  });

  test.each([0, 'c0ffee00-7f3a-4f0e-9d55-000000000001'])(
    'sends progress under the token %j',
    async (token) => {
      await using pipe = openPipe();
      pipe.write(initialize(0), initialized, request(1, 'tools/list', { _meta: { progressToken: token } }));
      expect((await pipe.answerTo(1)).result).toHaveProperty('tools');
      pipe.write(request(2, 'tools/call', call('count', { to: 3 }, { progressToken: token })));
      await pipe.answerTo(2);
      const progress = pipe.received.filter(({ method }) => method === 'notifications/progress');
      expect(progress.map(({ params }) => params)).toMatchObject(
        [1, 2, 3].map((done) => ({ progressToken: token, progress: done, total: 3 })),
      );
      expect(pipe.received.at(-1)?.id).toBe(2);
    },
  );

  test('accepts unknown metadata, in both eras', async () => {
    await using pipe = openPipe();
    const meta = { 'claudecode/toolUseId': 'toolu_01', threadId: 't-1', progressToken: 3 };
    pipe.write(initialize(0), initialized, request(1, 'tools/call', call('add', { a: 1, b: 1 }, meta)));
    expect((await pipe.answerTo(1)).result).toMatchObject({ content: [{ text: '2' }] });
    pipe.write(modern(2, 'tools/call', call('add', { a: 2, b: 2 }, meta)));
    expect((await pipe.answerTo(2)).result).toMatchObject({ content: [{ text: '4' }] });
  });

  const capabilities = {
    elicitation: {},
    roots: { listChanged: true },
    sampling: {},
    experimental: { 'codex/sandbox-state': {} },
    extensions: { 'io.modelcontextprotocol/ui': {} },
  };
  test('passes all declared capabilities to the handler, in both eras', async () => {
    await using pipe = openPipe();
    pipe.write(modern(0, 'tools/call', call('client'), capabilities));
    expect((await pipe.answerTo(0)).result?.['structuredContent']).toEqual({
      name: 'traced',
      revision: '2026-07-28',
      capabilities,
    });
    pipe.write(
      initialize(1, '2025-06-18', capabilities),
      initialized,
      request(2, 'tools/call', call('client')),
    );
    expect((await pipe.answerTo(2)).result?.['structuredContent']).toEqual({
      name: 'traced',
      revision: '2025-06-18',
      capabilities,
    });
  });
});

describe('text that is JSON but not an object', () => {
  const texts = { '42.5': 42.5, '[1,2]': [1, 2], '"quoted"': 'quoted', true: true, null: null };

  test.each(['2025-06-18', '2025-11-25'])(
    'comes with structured content in %s, unlike other text',
    async (revision) => {
      await using pipe = openPipe();
      pipe.write(initialize('i', revision), initialized);
      for (const [text, value] of Object.entries(texts)) {
        pipe.write(request(text, 'tools/call', call('say', { text })));
        expect((await pipe.answerTo(text)).result).toEqual({
          content: [{ type: 'text', text }],
          structuredContent: { result: value },
          _meta: { 'fullmcp/structured': 'parsed' },
        });
      }
      pipe.write(request('words', 'tools/call', call('say', { text: 'not JSON' })));
      expect((await pipe.answerTo('words')).result).toEqual({
        content: [{ type: 'text', text: 'not JSON' }],
      });
    },
  );

  test.each(['2024-11-05', '2025-03-26'])(
    'comes without structured content in %s, which has none',
    async (revision) => {
      await using pipe = openPipe();
      pipe.write(
        initialize('i', revision),
        initialized,
        request(1, 'tools/call', call('say', { text: '42.5' })),
      );
      expect((await pipe.answerTo(1)).result).toEqual({ content: [{ type: 'text', text: '42.5' }] });
    },
  );
});

describe.concurrent('a server process', () => {
  const endings = {
    'a closed input': ['stdin'],
    'SIGTERM while the input is open': ['SIGTERM'],
    'SIGINT while the input is open': ['SIGINT'],
    'a closed input and SIGTERM right after': ['stdin', 'SIGTERM'],
  } as const;

  test.each(Object.entries(endings))('exits cleanly on %s', async (_name, how) => {
    await using pipe = openPipe();
    pipe.write(modern(0, 'server/discover'));
    await pipe.answerTo(0);
    expect(await pipe.end(...how)).toBe(0);
  });

  test.each(Object.entries(endings))('exits cleanly on %s even while a call is open', async (_name, how) => {
    await using pipe = openPipe();
    pipe.write(
      initialize(0),
      initialized,
      request(1, 'tools/call', call('wait', { key: 'k' }, { progressToken: 0 })),
    );
    await pipe.find('The progress of the call', ({ method }) => method === 'notifications/progress');
    expect(await pipe.end(...how)).toBe(0);
  });

  test('exits cleanly if SIGTERM arrives while it is already shutting down', async () => {
    await using pipe = openPipe();
    pipe.write(
      modern('listen:0', 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
      modern(1, 'tools/call', call('wait', { key: 'k' }, { progressToken: 0 })),
    );
    await pipe.find('The progress of the call', ({ method }) => method === 'notifications/progress');
    pipe.closeInput();
    // Subscriptions end first, while the call may still finish.
    await pipe.answerTo('listen:0');
    expect(await pipe.end('SIGTERM')).toBe(0);
  });

  test('answers the last request before it exits', async () => {
    await using pipe = openPipe();
    pipe.write(modern(0, 'tools/call', call('add', { a: 1, b: 2 })));
    const ending = pipe.end('stdin');
    expect((await pipe.answerTo(0)).result).toMatchObject({ content: [{ text: '3' }] });
    expect(await ending).toBe(0);
  });
});
