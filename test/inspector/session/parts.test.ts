import { expect, test } from 'vitest';
import { maskBody, maskHopUrl } from '../../../src/inspector/session/login/mask-body.js';
import { viewOfToken } from '../../../src/inspector/session/login/token-view.js';
import { Feed } from '../../../src/inspector/stories/feed.js';
import { MessageLog } from '../../../src/inspector/stories/message-log.js';
import { maskHeaders, maskTexts, maskValue } from '../../../src/inspector/wiretap/mask.js';
import type { SeenMessage } from '../../../src/inspector/wiretap/seen.js';
import type { Dispatch } from '../../../src/protocol/call.js';
import { McpError } from '../../../src/protocol/errors.js';
import { rig } from './rig.js';

// The parts that everything else relies on: bounds, masks and the feed of events.

const seen = (text: string): SeenMessage => ({
  kind: 'notification',
  method: 'x',
  from: 'server',
  text,
  isCut: false,
  bytes: text.length,
  at: 0,
  scope: { story: 1, isBackground: false },
});

test('64 MB of bodies are kept, the oldest go first, and their heads stay', () => {
  const log = new MessageLog();
  const text = 'x'.repeat(1_000_000);
  for (let added = 0; added < 100; added++) log.add('c1', seen(text));
  expect(log.heads()).toHaveLength(100);
  expect(log.text(1)).toBeUndefined();
  expect(log.text(100)?.text).toHaveLength(1_000_000);
  const kept = log.heads().filter(({ seq }) => log.text(seq) !== undefined).length;
  expect(kept).toBe(67);
});

test('20,000 heads are kept', () => {
  const log = new MessageLog();
  for (let added = 0; added < 45_000; added++) log.add(added % 2 === 0 ? 'c1' : 'c2', seen('short'));
  expect(log.heads()).toHaveLength(20_000);
  expect(log.heads().at(-1)?.seq).toBe(45_000);
  expect(log.text(1)).toBeUndefined();
  log.filter(({ connection }) => connection === 'c1');
  expect(log.heads().every(({ connection }) => connection === 'c1')).toBe(true);
  expect(log.text(45_000)).toBeUndefined();
  expect(log.text(44_999)?.text).toBe('short');
});

test('the feed puts changes together, and repeats only the latest state of each thing', () => {
  const stories = new Map<number, object>([[1, { id: 1, n: 0 }]]);
  const feed = new Feed({
    connection: () => undefined,
    chat: () => undefined,
    story: (id) => stories.get(id) as never,
  });
  const heard: unknown[] = [];
  feed.subscribe((event) => heard.push(event));
  for (let n = 0; n < 1000; n++) {
    stories.set(1, { id: 1, n });
    feed.storyChanged(1);
  }
  expect(feed.seq).toBe(1);
  expect(heard).toEqual([{ seq: 1, type: 'story', story: { id: 1, n: 999 } }]);
  for (let n = 0; n < 10; n++) {
    stories.set(1, { id: 1, n });
    feed.storyChanged(1);
    feed.flush();
  }
  expect(feed.after(1)).toEqual([{ seq: 11, type: 'story', story: { id: 1, n: 9 } }]);
  expect(feed.after(11)).toEqual([]);
  expect(feed.after(12)).toBeUndefined();
  for (let n = 0; n < 6000; n++) feed.emit({ type: 'disconnected', id: 'c' });
  expect(feed.after(5)).toBeUndefined();
  expect(feed.after(6000)).toHaveLength(11);
  feed.close();
});

test('secrets are masked, and JSON stays JSON', () => {
  expect(maskValue('Bearer abcdefghijklmnopqrstuvwxyz')).toBe('Bearer abcd…wxyz');
  expect(maskValue('Basic YWxhZGRpbjpvcGVuc2VzYW1l')).toBe('Basic •••');
  expect(maskValue('short')).toBe('•••');
  expect(maskHeaders({ Authorization: 'x', 'X-Api-Key': 'y', Accept: 'z', 'mcp-session-id': 'w' })).toEqual({
    Authorization: '•••',
    'X-Api-Key': '•••',
    Accept: 'z',
    'mcp-session-id': '•••',
  });
  for (const secret of [
    'abc"defghijklmnopqrstuvw\\',
    '\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\',
    '$&$&$&$&$1',
    'line\nbreak\nwith\nmany\nlines\n',
  ]) {
    const masked = maskTexts([secret])(JSON.stringify({ text: `it is ${secret} here`, [secret]: 1 }));
    expect(Object.keys(JSON.parse(masked) as object)).toEqual(['text', '•••']);
    expect(JSON.parse(masked)).toMatchObject({ text: 'it is ••• here' });
  }
});

test('bodies and addresses of a login are masked by the names of their fields', () => {
  const form =
    'grant_type=authorization_code&code=secret-code-secret-code&code_verifier=vvvvvvvvvvvvvvvvvvvvvvvvvv&client_id=me';
  const shown = maskBody(form, 'application/x-www-form-urlencoded');
  expect(shown).toContain('client_id=me');
  expect(shown).not.toContain('secret-code-secret-code');
  expect(shown).not.toContain('vvvvvvvv');
  const json = maskBody(
    JSON.stringify({
      access_token: 'aaaabbbbccccddddeeeeffff',
      nested: { client_secret: 'zzzzyyyyxxxxwwwwvvvv' },
      scope: 'read',
    }),
    'application/json',
  );
  expect(json).toContain('"scope": "read"');
  expect(json).not.toContain('bbbbcccc');
  expect(json).not.toContain('yyyyxxxx');
  expect(maskHopUrl('https://a.example/callback?code=abcdefghijklmnopqrstuvwx&state=s')).toBe(
    'https://a.example/callback?code=abcd…uvwx&state=s',
  );
  expect(maskBody('<html>'.repeat(10_000), 'text/html').length).toBeLessThan(20_010);
});

test('a token that is not a JWT, or a hostile one, is only masked', () => {
  for (const token of [
    'opaque-token-opaque-token',
    'a.b.c',
    '..',
    `${'e'.repeat(30_000)}.e.e`,
    'bnVsbA.bnVsbA.x',
  ])
    expect(Object.keys(viewOfToken(token))).toEqual(['masked', 'canRefresh']);
});

test('a login store that is broken keeps no server out that needs no login', async () => {
  const broken = { get: fail, set: fail, delete: fail, lock: fail };
  function fail(): Promise<never> {
    return Promise.reject(new Error('The disk is on fire'));
  }
  const { serve } = await import('../../../src/node.js');
  const { createServer, tool } = await import('fullmcp');
  const serving = await serve(
    createServer({ name: 'a', version: '1.0.0', tools: { a: tool({ run: () => 'a' }) } }),
    { port: 0, signals: false },
  );
  const own = rig({ loginStore: broken });
  const id = await own.connect({ target: serving.url });
  expect(own.connection(id)).toMatchObject({ status: 'ready', auth: { state: 'none' } });
  await own.inspector.close();
  await serving.close();
});

test('a target that cannot be opened fails the command with its sentence, and leaves nothing', async () => {
  await using own = rig({
    openTarget: () => Promise.reject(new McpError('invalid_params', 'There is no file ./nothing.js.')),
  });
  await expect(own.run('connect', { text: './nothing.js' })).rejects.toThrow(
    'There is no file ./nothing.js.',
  );
  expect(own.inspector.snapshot().connections).toEqual([]);
});

test('a server that throws strange things ends its call, not the inspector', async () => {
  const strange: Dispatch = (call) => {
    if (call.method === 'server/discover')
      return Promise.resolve({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
      });
    if (call.method === 'tools/list') return Promise.resolve({ resultType: 'complete', tools: 'none' });
    const circular: { resultType: string; self?: unknown } = { resultType: 'complete' };
    circular.self = circular;
    if (call.params['name'] === 'circular') return Promise.resolve(circular as never);
    throw call.params['name'] === 'null' ? null : 'a string';
  };
  await using own = rig();
  const id = await own.connect({ target: strange });
  for (const tool of ['circular', 'null', 'string']) {
    const { story } = await own.run('call', { connection: id, tool, args: {} });
    expect((await own.ended(story)).state).toBe('error');
  }
  expect(own.connection(id)?.status).toBe('ready');
});
