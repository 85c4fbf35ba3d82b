import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inProcess } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { afterAll, describe, expect, test } from 'vitest';
import { handle as handleKeys } from '../../../examples/caller/api-keys.js';
import { app } from '../../../examples/caller/express.js';
import { running } from '../../../examples/caller/gateway.js';
import { inTests } from '../../../examples/caller/in-tests.js';
import { server } from '../../../examples/caller/server.js';
import { handle } from '../../../examples/caller/token.js';
import errors from '../../../examples/guide/errors.js';

// Runs the code that docs/who-is-calling.md shows.

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function addNote(target: string, headers: Record<string, string>, fetch = globalThis.fetch) {
  const client = await connect(target, { headers, fetch });
  closing.push(() => client.close());
  return (await client.callTool('add_note', { text: 'x' })).text;
}

describe('the user of a call', () => {
  test('comes from a verified token', async () => {
    const fetch: typeof globalThis.fetch = (input, init) => handle(new Request(input, init));
    const url = 'http://localhost/mcp';
    expect(await addNote(url, { authorization: 'Bearer token-of-ada' }, fetch)).toBe('Noted for ada');
    expect(await addNote(url, {}, fetch)).toBe('Noted for guest');
    await expect(addNote(url, { authorization: 'Bearer wrong' }, fetch)).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  test('comes from an API key or a token', async () => {
    const fetch: typeof globalThis.fetch = (input, init) => handleKeys(new Request(input, init));
    const url = 'http://localhost/mcp';
    const add = (token: string) => addNote(url, { authorization: `Bearer ${token}` }, fetch);
    expect(await add('key_of-the-nightly-report')).toBe('Noted for nightly-report');
    expect(await add('token-of-ada')).toBe('Noted for ada');
    for (const wrong of ['key_wrong', 'wrong'])
      await expect(add(wrong)).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(addNote(url, {}, fetch)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('comes from the request of Express', async () => {
    const http = createHttpServer(app).listen(0, '127.0.0.1');
    closing.push(() => new Promise((resolve) => http.close(resolve)));
    await once(http, 'listening');
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    expect(await addNote(url, { cookie: 'session=ada' })).toBe('Noted for ada');
    expect(await addNote(url, {})).toBe('Noted for guest');
  });

  test('comes from the headers of a gateway, over HTTP and WebSocket', async () => {
    closing.push(() => running.close());
    const headers = { 'x-authenticated-user': 'ada' };
    expect(await addNote(running.url, headers)).toBe('Noted for ada');
    const socket = await connect(running.url.replace('http', 'ws'), { headers });
    closing.push(() => socket.close());
    expect((await socket.callTool('add_note', { text: 'x' })).text).toBe('Noted for ada');
  });

  test('reaches a tool, the tools that it calls, and completions', async () => {
    const client = await connect(server, { caller: { subject: 'ada' } });
    closing.push(() => client.close());
    const result = await client.callTool('add_notes', { texts: ['a', 'b'] });
    expect(result.text).toBe('2 notes for ada');
    const completed = await client.complete({ template: 'notes://{name}', argument: 'name', value: 'e' });
    expect(completed.values).toEqual(['engine', 'errands']);
  });

  test('can be set in tests', async () => {
    expect(await inTests()).toEqual(['Noted for ada', 'Noted for bob', 'Noted for guest']);
  });
});

test('a database error becomes a sentence for the model', async () => {
  const outcome = await inProcess(errors)('tools/call', {
    name: 'add_issue',
    arguments: { title: 'Broken door' },
  });
  expect(outcome).toMatchObject({
    isError: true,
    content: [{ text: 'An issue with this title already exists. Choose another title.' }],
  });
});
