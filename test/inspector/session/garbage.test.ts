import { createServer, tool } from 'fullmcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { McpError } from '../../../src/protocol/errors.js';
import { type Rig, rig } from './rig.js';

// A page that sends anything: each command checks its input, answers with a sentence, and harms nothing.

const server = createServer({ name: 'small', version: '1.0.0', tools: { ok: tool({ run: () => 'ok' }) } });

const names = [
  'connect',
  'reconnect',
  'disconnect',
  'forgetServer',
  'refresh',
  'call',
  'read',
  'prompt',
  'request',
  'again',
  'complete',
  'subscribe',
  'unsubscribe',
  'stop',
  'answer',
  'forgetAnswers',
  'followTask',
  'roots',
  'logLevel',
  'ping',
  'pin',
  'clear',
  'login',
  'forgetLogin',
  'importTape',
  'closeTape',
  'replayTape',
] as const;

let own: Rig;
let id: string;
beforeAll(async () => {
  own = rig({ openTarget: async () => ({ target: server, options: {}, address: 'small', typed: 'small' }) });
  id = await own.connect({ target: server });
});
afterAll(() => own[Symbol.asyncDispose]());

const garbage: readonly unknown[] = [
  {},
  { connection: 5 },
  { connection: null },
  { connection: 'c99' },
  { connection: '__proto__', story: -1 },
  { story: 'one' },
  { story: 1.5 },
  { story: 99_999 },
  { story: Number.MAX_VALUE },
  { connection: ['c1'], story: {}, question: [] },
];

describe.each(names)('the command %s', (name) => {
  test.each(garbage)('refuses %j with a sentence', async (input) => {
    const failure = await own.raw(name, input).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(McpError.is(failure)).toBe(true);
    expect((failure as McpError).message.length).toBeGreaterThan(10);
    expect((failure as McpError).code).not.toBe('internal_error');
  });
});

test.each<[string, unknown, RegExp]>([
  ['call', { tool: 'ok', args: [] }, /"args" must be an object/],
  ['call', { tool: '', args: {} }, /"tool" must be a string/],
  ['call', { tool: 'x'.repeat(2000), args: {} }, /at most 1000/],
  ['call', { tool: 'ok', args: {}, asTask: 'yes' }, /true or false/],
  ['prompt', { name: 'p', args: { a: 1 } }, /object of strings/],
  ['request', { method: 'x'.repeat(300), params: {} }, /at most 256/],
  ['complete', { ref: {}, argument: 'a', value: '' }, /"prompt" or a "template"/],
  ['roots', { roots: [{ uri: 'https://example.com' }] }, /file:/],
  ['roots', { roots: 'all' }, /array/],
  ['logLevel', { level: 'loud' }, /log level/],
  ['reconnect', { revision: '1999-01-01' }, /not a revision/],
  ['unsubscribe', { uri: 'none://' }, /no subscription/],
  ['replayTape', { tape: 't9', allow: [] }, /no tape/],
  ['replayTape', { tape: 't9', allow: [1] }, /array of strings/],
])('%s with %j says what is wrong', async (name, input, message) => {
  await expect(own.raw(name, { connection: id, ...(input as object) })).rejects.toThrow(message);
});

test('connect needs exactly one place, and a revision that exists', async () => {
  await expect(own.raw('connect', { url: 'http://a', command: 'b' })).rejects.toThrow(
    'Say where the server is',
  );
  await expect(own.raw('connect', { text: 'a', revision: 'new' })).rejects.toThrow('not a revision');
  await expect(own.raw('connect', { text: 'a', headers: { a: 1 } })).rejects.toThrow('object of strings');
  await expect(own.raw('connect', { text: 'a', args: 'b' })).rejects.toThrow('array');
});

test('unknown commands and names of Object are refused', async () => {
  for (const name of ['nope', 'constructor', '__proto__', 'toString', ''])
    await expect(own.raw(name, {})).rejects.toThrow('has no command');
});

test('tapes that are not tapes are refused with their line', async () => {
  await expect(own.raw('importTape', { name: 'a', text: 'hello' })).rejects.toThrow('line 1');
  await expect(
    own.raw('importTape', {
      name: 'a',
      text: '{"fullmcp":"recording","version":1}\n{"call":7,"outcome":{}}\n{}',
    }),
  ).rejects.toThrow('line 2');
});

test('the server still works after all of it', async () => {
  const { story } = await own.run('call', { connection: id, tool: 'ok', args: {} });
  expect((await own.ended(story)).state).toBe('ok');
  expect(own.connection(id)?.status).toBe('ready');
});

test('a mounted inspector has one connection that cannot be closed, and opens no other', async () => {
  await using mounted = rig({ openTarget: undefined as never, fixed: { server, name: 'mine' } });
  await mounted.until('the connection', () => mounted.connection('c1')?.status === 'ready');
  expect(mounted.inspector.snapshot()).toMatchObject({ mayConnect: false, connections: [{ isFixed: true }] });
  await expect(mounted.raw('connect', { url: 'http://127.0.0.1:1' })).rejects.toThrow('one server only');
  await expect(mounted.run('disconnect', { connection: 'c1' })).rejects.toThrow('belongs to the program');
  await mounted.inspector.close();
  await expect(mounted.raw('ping', { connection: 'c1' })).rejects.toThrow('closed');
});
