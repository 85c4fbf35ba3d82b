import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { CarrierRequest, HttpCarrier, HttpReply } from '../../../src/transports/http/client/carrier.js';
import { soon, until } from '../until.js';

type Handle = (request: IncomingMessage & { readonly text: string }, response: ServerResponse) => void;

const MB = 1024 * 1024;

/** The promises of every carrier of the client's HTTP requests, seen from a real server. */
export function httpCarrierContract(name: string, open: (url: URL) => HttpCarrier): void {
  const opened: { close: () => unknown }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  });

  interface Served {
    readonly url: URL;
    readonly carrier: HttpCarrier;
    /** The open connections, including idle ones that `fetch` keeps. */
    readonly sockets: Set<Socket>;
    /** The open requests. */
    readonly open: () => number;
    /** How many connections were opened in total. */
    readonly connections: () => number;
    readonly requests: () => number;
  }

  async function listen(server: Server | TcpServer): Promise<Served> {
    const sockets = new Set<Socket>();
    let connections = 0;
    let requests = 0;
    let closed = 0;
    server.on('request', (_request, response: ServerResponse) => {
      requests++;
      response.on('close', () => closed++);
    });
    server.on('connection', (socket: Socket) => {
      connections++;
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?a=b`);
    const carrier = open(url);
    opened.push({
      close: () =>
        new Promise((resolve) => {
          server.close(resolve);
          for (const socket of sockets) socket.destroy();
        }),
    });
    opened.push(carrier);
    return {
      url,
      carrier,
      sockets,
      connections: () => connections,
      requests: () => requests,
      open: () => requests - closed,
    };
  }

  function serve(handle: Handle): Promise<Served> {
    return listen(
      createServer(async (request, response) => {
        let text = '';
        request.setEncoding('utf8');
        try {
          for await (const chunk of request) text += chunk;
        } catch {
          return;
        }
        handle(Object.assign(request, { text }), response);
      }),
    );
  }

  /** A server that sends these bytes, then calls `then`. */
  function say(bytes: string, then: (socket: Socket) => void = () => undefined): Promise<Served> {
    return listen(
      createTcp((socket) => {
        socket.once('data', () => {
          socket.write(bytes);
          then(socket);
        });
      }),
    );
  }

  function post({ url, carrier }: Served, more: Partial<CarrierRequest> = {}): Promise<HttpReply> {
    return soon(
      'the reply',
      carrier.send({
        method: 'POST',
        url,
        commonHeaders: { 'content-type': 'application/json' },
        headers: {},
        body: '{}',
        until: new AbortController(),
        lane: 'call',
        ...more,
      }),
    );
  }

  async function readAll(reply: HttpReply): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const chunk = await soon('a part of the body', reply.read());
      if (chunk === undefined) return text;
      text += decoder.decode(chunk, { stream: true });
    }
  }

  const failure = (promise: Promise<unknown>): Promise<Error & { code?: unknown }> =>
    soon(
      'the failure',
      promise.then(
        () => Promise.reject(new Error('It did not fail')),
        (error) => error,
      ),
    );

  describe(`HTTP over ${name}`, () => {
    test('delivers a request as it was sent and its reply as it was written', async () => {
      const seen: unknown[] = [];
      const served = await serve((request, response) => {
        const { method, url, headers, text } = request;
        seen.push({ method, url, type: headers['content-type'], own: headers['x-own'], text });
        response.setHeader('X-Reply', 'yes');
        response.writeHead(201, { 'content-type': 'application/json' }).end('{"ü":1}');
      });
      const reply = await post(served, { headers: { 'X-Own': 'é' }, body: '{"text":"漢字 😀"}' });
      expect(reply.status).toBe(201);
      expect(reply.url).toBe(served.url.href);
      expect(reply.opaque).toBe(false);
      expect(reply.header('x-reply')).toBe('yes');
      expect(reply.header('content-type')).toBe('application/json');
      expect(reply.header('x-missing')).toBeUndefined();
      expect(await reply.text(MB)).toBe('{"ü":1}');
      expect(seen).toEqual([
        { method: 'POST', url: '/mcp?a=b', type: 'application/json', own: 'é', text: '{"text":"漢字 😀"}' },
      ]);
    });

    test('sends GET and DELETE without a body, and lets the headers of one request override the standing ones', async () => {
      const seen: unknown[] = [];
      const served = await serve(({ method, headers, text }, response) => {
        seen.push([method, headers.accept, headers['transfer-encoding'], text]);
        response.writeHead(204).end();
      });
      const standing = { accept: 'application/json' };
      const get = { method: 'GET', body: undefined, lane: 'stream' } as const;
      const first = await post(served, {
        ...get,
        commonHeaders: standing,
        headers: { accept: 'text/event-stream' },
      });
      expect([first.status, await first.text(MB)]).toEqual([204, '']);
      const second = await post(served, {
        method: 'DELETE',
        body: undefined,
        lane: 'brief',
        commonHeaders: standing,
      });
      expect(await readAll(second)).toBe('');
      expect(seen).toEqual([
        ['GET', 'text/event-stream', undefined, ''],
        ['DELETE', 'application/json', undefined, ''],
      ]);
    });

    test('joins headers of the same name with commas', async () => {
      const served = await serve((_request, response) => {
        response.setHeader('www-authenticate', ['Bearer realm="a"', 'Basic realm="b"']);
        response.writeHead(401).end();
      });
      const reply = await post(served);
      expect(reply.header('www-authenticate')).toBe('Bearer realm="a", Basic realm="b"');
      reply.cancel();
    });

    test('rejects a header that contains a line break, and sends nothing', async () => {
      const served = await serve((_request, response) => response.end());
      await failure(post(served, { headers: { 'x-own': 'a\r\nx-evil: b' } }));
      await failure(post(served, { headers: { 'x own': 'a' } }));
      expect(served.requests()).toBe(0);
    });

    test('reads a body in pieces as one string, without the byte order mark', async () => {
      const bytes = Buffer.from('\ufeff{"text":"漢字 😀"}');
      const served = await serve((_request, response) => {
        response.writeHead(200);
        let at = 0;
        const next = (): void => {
          if (at === bytes.length) return void response.end();
          response.write(bytes.subarray(at, ++at), () => setImmediate(next));
        };
        next();
      });
      expect(await soon('the text', (await post(served)).text(MB))).toBe('{"text":"漢字 😀"}');
    });

    test('reads a stream as it arrives', async () => {
      const written: ServerResponse[] = [];
      const served = await serve((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('one');
        written.push(response);
      });
      const reply = await post(served);
      const text = async (): Promise<string> =>
        Buffer.from((await soon('a part', reply.read())) ?? []).toString();
      expect(await text()).toBe('one');
      const second = text();
      written[0]?.write('two');
      expect(await second).toBe('two');
      written[0]?.end();
      expect(await soon('the end', reply.read())).toBeUndefined();
      expect(await soon('the end again', reply.read())).toBeUndefined();
    });

    test.each([
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ] as const)('decodes a body in %s in both ways of reading', async (encoding, compress) => {
      const served = await serve((_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(compress('{"text":"漢字"}'));
      });
      expect(await soon('the text', (await post(served)).text(MB))).toBe('{"text":"漢字"}');
      expect(await readAll(await post(served))).toBe('{"text":"漢字"}');
    });

    test('reads an event stream in gzip as it arrives', async () => {
      const served = await serve((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/event-stream' });
        const zip = createGzip();
        zip.pipe(response);
        zip.write('data: 1\n\n');
        zip.flush();
      });
      const reply = await post(served);
      expect(Buffer.from((await soon('the event', reply.read())) ?? []).toString()).toBe('data: 1\n\n');
      reply.cancel();
      await until('the server sees the end', () => served.open() === 0);
    });

    test.each([
      ['a length that is said', (response: ServerResponse) => response.setHeader('content-length', 64 * MB)],
      ['a length that is not said', () => undefined],
    ])('cuts off a body that is too large: %s', async (_what, prepare) => {
      let sent = 0;
      const served = await serve((_request, response) => {
        prepare(response);
        const piece = Buffer.alloc(MB, 'x');
        const write = (): void => {
          while (sent < 64 * MB && !response.destroyed) {
            sent += MB;
            if (!response.write(piece)) return void response.once('drain', write);
          }
        };
        write();
      });
      expect(await soon('the text', (await post(served)).text(MB))).toBeUndefined();
      await until('the server sees the end', () => served.open() === 0);
      expect(sent).toBeLessThan(64 * MB);
    });

    test('cuts off a small body that unpacks beyond the limit', async () => {
      const bomb = gzipSync(Buffer.alloc(64 * MB, 'x'));
      const served = await serve((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
      });
      expect(bomb.length).toBeLessThan(MB);
      expect(await soon('the text', (await post(served)).text(MB))).toBeUndefined();
    });

    test.each([
      ['shorter than it says', 'content-length: 10\r\n\r\n{"a"'],
      ['in pieces without an end', 'transfer-encoding: chunked\r\n\r\n4\r\n{"a"\r\n'],
    ])('reports a body that breaks off as an error: %s', async (_what, rest) => {
      const bytes = `HTTP/1.1 200 OK\r\n${rest}`;
      const whole = await say(bytes, (socket) => socket.end());
      await failure(post(whole).then((reply) => reply.text(MB)));
      const read = await say(bytes, (socket) => socket.end());
      await failure(post(read).then(readAll));
    });

    test('returns a redirect without following it', async () => {
      const served = await serve((_request, response) =>
        response.writeHead(307, { location: '/elsewhere' }).end(),
      );
      const reply = await post(served);
      expect([reply.status, reply.header('location')]).toEqual([307, '/elsewhere']);
      reply.cancel();
      expect(served.requests()).toBe(1);
    });

    test.each([
      ['nothing at all', '', (socket: Socket) => socket.end()],
      ['something else than HTTP', '220 mail.example ESMTP\r\n', (socket: Socket) => socket.end()],
      ['half a head', 'HTTP/1.1 200 OK\r\ncontent-', (socket: Socket) => socket.destroy()],
      [
        'that it speaks another protocol now',
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n',
        () => undefined,
      ],
    ])('reports an error if the server sends %s', async (_what, bytes, then) => {
      expect(await failure(post(await say(bytes, then)))).toBeInstanceOf(Error);
    });

    test('reports the error code if nothing listens', async () => {
      const served = await serve(() => undefined);
      await opened.splice(0, 1)[0]?.close();
      const error = await failure(post(served));
      expect((error.cause as typeof error | undefined)?.code ?? error.code).toBe('ECONNREFUSED');
    });

    test('does not send a request that was aborted before it began', async () => {
      const served = await serve((_request, response) => response.end());
      const reason = new Error('given up');
      expect(await failure(post(served, { until: { signal: AbortSignal.abort(reason) } }))).toBe(reason);
      expect(served.requests()).toBe(0);
    });

    test('ends an aborted request that waits with the reason, and the server sees it', async () => {
      const served = await serve(() => undefined);
      const controller = new AbortController();
      const failed = failure(post(served, { until: controller }));
      await until('it is under way', () => served.requests() === 1);
      const reason = new Error('given up');
      controller.abort(reason);
      expect(await failed).toBe(reason);
      await until('the server sees the end', () => served.open() === 0);
    });

    test('ends a request that is aborted while its large body is written with the reason', async () => {
      const served = await listen(createTcp((socket) => void socket.pause()));
      const controller = new AbortController();
      const failed = failure(post(served, { until: controller, body: 'x'.repeat(32 * MB) }));
      await until('it is connected', () => served.sockets.size === 1);
      const reason = new Error('given up');
      controller.abort(reason);
      expect(await failed).toBe(reason);
      const [first] = [...served.sockets];
      first?.resume();
      await until('the server sees the end', () => first?.destroyed === true);
    });

    test.each(['text', 'read'] as const)(
      'ends a reply that is aborted during %s with the reason',
      async (way) => {
        const served = await serve((_request, response) => {
          response.writeHead(200);
          response.write('one');
        });
        const controller = new AbortController();
        const reply = await post(served, { until: controller });
        if (way === 'read') await reply.read();
        const failed = failure(reply[way](MB));
        const reason = new Error('given up');
        controller.abort(reason);
        expect(await failed).toBe(reason);
        await until('the server sees the end', () => served.open() === 0);
      },
    );

    test('ends a reply that is aborted before anybody reads it with the reason', async () => {
      const served = await serve((_request, response) => {
        response.writeHead(200);
        response.write('one');
      });
      const controller = new AbortController();
      const reply = await post(served, { until: controller });
      const reason = new Error('given up');
      controller.abort(reason);
      expect(await failure(reply.text(MB))).toBe(reason);
      await until('the server sees the end', () => served.open() === 0);
    });

    test('ignores an abort after the end, and reuses the connection', async () => {
      const served = await serve((_request, response) => response.end('done'));
      for (let round = 0; round < 5; round++) {
        const controller = new AbortController();
        expect(await (await post(served, { until: controller })).text(MB)).toBe('done');
        controller.abort(new Error('too late'));
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(served.connections()).toBe(1);
    });

    test('cancels an unwanted reply, and the server sees it', async () => {
      const served = await serve((_request, response) => {
        response.writeHead(200);
        response.write('one');
      });
      const reply = await post(served);
      reply.cancel();
      reply.cancel();
      await until('the server sees the end', () => served.open() === 0);
    });

    test('gives each of many concurrent requests its own reply', async () => {
      const served = await serve(({ text }, response) => {
        setTimeout(() => response.end(text), Number(text) % 7);
      });
      const texts = Array.from({ length: 200 }, (_, at) => String(at));
      const replies = await Promise.all(texts.map(async (body) => (await post(served, { body })).text(MB)));
      expect(replies).toEqual(texts);
    });
  });
}
