import { createServer, inProcess, type Middleware, tool } from 'fullmcp';
import { describe, expect, test } from 'vitest';
import { buildCall } from '../../../../src/testing/builders.js';
import { recorder } from '../../../../src/testing/recording/recorder.js';
import { replay } from '../../../../src/testing/recording/replay.js';
import { until } from '../../../support/until.js';

function countingServer(...use: Middleware[]) {
  let count = 0;
  return createServer({
    name: 'counting',
    version: '1.0.0',
    changes: true,
    use,
    tools: {
      count: tool({ run: () => ++count }),
      login: tool({
        input: { type: 'object' },
        run: (_, ctx) => {
          ctx.progress(1, 2);
          return { token: 'abc', user: 'ada' };
        },
      }),
    },
  });
}

const count = { name: 'count', arguments: {} };

async function record(): Promise<string> {
  const tape = recorder();
  const ask = inProcess(countingServer(tape));
  await ask('tools/list');
  await ask('tools/call', count);
  await ask('tools/call', count);
  const args = { user: 'ada', password: 'correct horse', nested: [{ API_Key: 'k-123' }] };
  await ask('tools/call', {
    name: 'login',
    arguments: args,
    _meta: { progressToken: 'p1', 'x/y': 'private' },
  });
  await ask('resources/read', { uri: 'x://nowhere' }).catch(() => undefined);
  return tape.recording;
}

test('A recorder with `keep: false` passes its lines on, and has none of them', async () => {
  const lines: string[] = [];
  const tape = recorder({ keep: false, onLine: (line) => void lines.push(line) });
  await inProcess(countingServer(tape))('tools/call', count);
  expect(lines.length).toBeGreaterThan(1);
  expect(tape.recording).not.toContain('"count"');
});

describe('a recording', () => {
  test('has a line of JSON for each event', async () => {
    const lines = (await record()).trimEnd().split('\n');
    expect(JSON.parse(lines[0] ?? '')).toEqual({ fullmcp: 'recording', version: 1 });
    const entries = lines.slice(1).map((line) => JSON.parse(line));
    expect(entries.map(({ call }) => call)).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5]);
    expect(entries[2]).toEqual({ call: 2, at: expect.any(Number), method: 'tools/call', params: count });
    expect(entries[3]).toMatchObject({ call: 2, outcome: { content: [{ text: '1' }] } });
    expect(entries[7]).toMatchObject({ notify: 'notifications/progress', params: { progressToken: 'p1' } });
    expect(entries[10]).toMatchObject({ call: 5, error: { code: 'resource_not_found' } });
  });

  test('contains no secrets and no metadata of the caller, and is replayed without them', async () => {
    const text = await record();
    for (const secret of ['correct horse', 'k-123', 'private', '"token":"abc"']) {
      expect(text).not.toContain(secret);
    }
    expect(text).toContain('"user":"ada"');
    expect(text).toContain('"password":"***"');
    const tape = recorder({ redact: ['user'] });
    await inProcess(countingServer(tape))('tools/call', { name: 'login', arguments: { user: 'ada' } });
    expect(tape.recording).toContain('{"user":"***"}');
    const again = replay(tape.recording);
    await expect(
      inProcess({ dispatch: again })('tools/call', { name: 'login', arguments: { user: 'eve' } }),
    ).resolves.toMatchObject({ resultType: 'complete' });
  });

  test('is delivered to onLine line by line', async () => {
    const lines: string[] = [];
    const tape = recorder({ onLine: (line) => lines.push(line) });
    await inProcess(countingServer(tape))('tools/call', count);
    expect(`${lines.join('\n')}\n`).toBe(tape.recording);
  });
});

describe('a replay', () => {
  test('returns the recorded responses in order, and then the last one again', async () => {
    const ask = inProcess({ dispatch: replay(await record()) });
    const values: unknown[] = [];
    for (let i = 0; i < 3; i++) values.push((await ask('tools/call', count))['content']);
    expect(values).toMatchObject([[{ text: '1' }], [{ text: '2' }], [{ text: '2' }]]);
    expect((await ask('tools/list'))['tools']).toHaveLength(2);
    await expect(ask('resources/read', { uri: 'x://nowhere' })).rejects.toMatchObject({
      code: 'resource_not_found',
      message: expect.stringContaining('x://nowhere'),
    });
  });

  test('finds a call whatever the order of its fields, its secrets and its metadata', async () => {
    const notifications: unknown[] = [];
    const ask = inProcess({ dispatch: replay(await record()) });
    const outcome = await ask(
      'tools/call',
      {
        _meta: { progressToken: 7 },
        arguments: { nested: [{ API_Key: 'other' }], password: 'another', user: 'ada' },
        name: 'login',
      },
      { onNotification: (method, params) => notifications.push([method, params]) },
    );
    expect(outcome['structuredContent']).toEqual({ token: '***', user: 'ada' });
    expect(notifications).toEqual([['notifications/progress', { progressToken: 7, progress: 1, total: 2 }]]);
  });

  test('lists its calls when it is asked for something else, without secrets', async () => {
    const dispatch = replay(await record());
    const call = buildCall('tools/call', { name: 'login', arguments: { token: 'tell nobody' } });
    const error = await dispatch(call).catch((reason) => reason);
    expect(error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(
        /no call of tools\/call login \{"token":"\*\*\*"\}\. It has: tools\/list, tools\/call count \{\}, .+resources\/read x:\/\/nowhere/,
      ),
    });
  });

  test('reports the recorded capabilities of the server', async () => {
    const ask = inProcess({ dispatch: replay(await record()) });
    expect(await ask('server/discover')).toMatchObject({ capabilities: { tools: {}, resources: {} } });
  });

  test('holds a subscription open, and sends its recorded notifications', async () => {
    const tape = recorder();
    const server = countingServer(tape);
    const listen = { notifications: { toolsListChanged: true } };
    const methods: string[] = [];
    const first = new AbortController();
    const open = inProcess(server)('subscriptions/listen', listen, {
      signal: first.signal,
      onNotification: (method) => methods.push(method),
    }).catch(() => undefined);
    server.changed.tools();
    await until('the change has arrived', () => methods.length === 2);
    first.abort();
    await open;

    const replayed: string[] = [];
    const second = new AbortController();
    let ended = false;
    const again = inProcess({ dispatch: replay(tape.recording) })('subscriptions/listen', listen, {
      signal: second.signal,
      onNotification: (method) => replayed.push(method),
    }).finally(() => {
      ended = true;
    });
    expect(replayed).toEqual(methods);
    await Promise.resolve();
    expect(ended).toBe(false);
    second.abort();
    await expect(again).rejects.toMatchObject({ code: 'cancelled' });
  });

  test.each([
    ['', 'line 1 is not a JSON object'],
    ['{"fullmcp":"something"}', 'line 1 is not the header {"fullmcp":"recording","version":1}'],
    ['{"fullmcp":"recording","version":1}\n{"call":1,"outcome":{}}', 'line 2 belongs to call 1'],
    ['{"fullmcp":"recording","version":1}\n\nnonsense', 'line 3 is not a JSON object'],
    [
      '{"fullmcp":"recording","version":1}\n{"call":1,"method":"x"}\n{"call":1}',
      'line 3 has none of "method"',
    ],
  ])('of an invalid recording names the line: %j', (text, message) => {
    expect(() => replay(text)).toThrow(message);
  });
});
