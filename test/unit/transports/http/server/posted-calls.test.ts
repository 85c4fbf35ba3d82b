import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Call, createServer, tool } from 'fullmcp';
import { createNodeHandler, serve } from 'fullmcp/node';
import { describe, expect, it } from 'vitest';
import { modern, modernMessage } from '../../../../support/http/modern.js';
import { head, rawSocket } from '../../../../support/http/raw.js';
import { signal } from '../../../../support/signal.js';
import { soon } from '../../../../support/until.js';

const info = { name: 'test', version: '1.0.0', logger: () => undefined };
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;

describe('a call that arrived as a POST', () => {
  it('can be spread by middleware, which keeps its signal, its request and its notifications', async () => {
    const calls: Call[] = [];
    const server = createServer({
      ...info,
      use: [
        (call, next) => {
          calls.push({ ...call });
          return next({ ...call, params: { ...call.params, arguments: { text: 'changed' } } });
        },
      ],
      tools: {
        echo: tool({
          input: text,
          run: ({ text }, ctx) => `${text} ${ctx.signal.aborted} ${ctx.request?.header('mcp-name')}`,
        }),
      },
    });
    await using serving = await serve(server, { port: 0 });
    const reply = await modern(serving.url, 'tools/call', { name: 'echo', arguments: { text: 'sent' } });
    expect(JSON.parse(reply.text).result.content).toEqual([{ type: 'text', text: 'changed false echo' }]);
    expect(calls[0]?.signal).toBeInstanceOf(AbortSignal);
    expect(calls[0]?.http?.remoteAddress).toMatch(/127\.0\.0\.1|::1/);
    expect(calls[0]?.notify).toBeTypeOf('function');
  });

  it('can be spread by onError, even without middleware', async () => {
    const calls: Call[] = [];
    const server = createServer({
      ...info,
      onError: (_, call) => void calls.push({ ...call }),
      tools: {
        fails: tool({
          run: () => {
            throw new Error('secret');
          },
        }),
      },
    });
    await using serving = await serve(server, { port: 0 });
    const reply = await modern(serving.url, 'tools/call', { name: 'fails' });
    expect(JSON.parse(reply.text).result).toMatchObject({ isError: true });
    expect(calls[0]?.signal).toBeInstanceOf(AbortSignal);
    expect(calls[0]?.http?.header('mcp-name')).toBe('fails');
  });

  it.each(['plain', 'é', '漢字 😀', ''])(
    'gets a reply whose Content-Length counts the bytes of %j',
    async (value) => {
      const server = createServer({
        ...info,
        tools: {
          now: tool({ input: text, run: ({ text }) => text }),
          later: tool({ input: text, run: async ({ text }) => text }),
        },
      });
      await using serving = await serve(server, { port: 0 });
      for (const name of ['now', 'later']) {
        const reply = await modern(serving.url, 'tools/call', { name, arguments: { text: value } });
        expect(reply.headers['content-length']).toBe(String(Buffer.byteLength(reply.text)));
        expect(JSON.parse(reply.text).result.content).toEqual([{ type: 'text', text: value }]);
      }
    },
  );
});

describe('a body that arrives late', () => {
  const server = createServer({ ...info, tools: { echo: tool({ input: text, run: ({ text }) => text }) } });

  it.each([0, 60_000])(
    'ends the request if its client disconnects in the middle of it, with a bodyTimeoutMs of %d',
    async (bodyTimeoutMs) => {
      const handler = createNodeHandler(server, { bodyTimeoutMs });
      const begun = signal();
      const over = signal();
      const http = createHttpServer((req, res) => {
        begun.give();
        void Promise.resolve(handler(req, res)).then(() => over.give());
      }).listen(0, '127.0.0.1');
      await once(http, 'listening');
      const { port } = http.address() as AddressInfo;
      const socket = await rawSocket(port);
      const lines = ['POST /mcp HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
      socket.write(head([...lines, 'Content-Length: 500']));
      socket.write('{"jsonrpc":');
      await begun.promise;
      socket.destroy();
      await soon('the end of the request', over.promise);
      http.close();
    },
  );

  it('is read in as many parts as it arrives in', async () => {
    await using serving = await serve(server, { port: 0 });
    const body = JSON.stringify(
      modernMessage('tools/call', { name: 'echo', arguments: { text: 'é'.repeat(20) } }),
    );
    const socket = await rawSocket(serving.port);
    let answer = '';
    const answered = signal();
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('utf8');
      if (answer.includes('resultType')) answered.give();
    });
    socket.write(
      head([
        'POST /mcp HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        'Mcp-Protocol-Version: 2026-07-28',
        'Mcp-Method: tools/call',
        'Mcp-Name: echo',
        `Content-Length: ${Buffer.byteLength(body)}`,
      ]),
    );
    for (const byte of Buffer.from(body)) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    await soon('the answer', answered.promise);
    expect(answer).toContain('é'.repeat(20));
    socket.destroy();
  });
});
