import { copyFile, rename, writeFile } from 'node:fs/promises';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import tls, { type ConnectionOptions, type TLSSocket } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConnectOptions, callTool, connect, McpError } from '../../../../../src/client.js';
import { createServer, tool } from '../../../../../src/index.js';
import { type ServeOptions, type Serving, serve } from '../../../../../src/node.js';
import { failureOf } from '../../../../support/failure.js';
import { type Authority, type Issued, makeAuthority } from '../../../../support/http/authority.js';
import { until } from '../../../../support/until.js';

// A real server and a real client over TLS, with certificates of an authority that was made for this run.

let authority: Authority;
let own: Issued;
let ada: Issued;
beforeAll(async () => {
  authority = await makeAuthority();
  own = await authority.issue('server');
  ada = await authority.issue('ada', 'client');
}, 60_000);
afterAll(() => authority[Symbol.asyncDispose]());

const warnings: string[] = [];
function shop() {
  return createServer({
    name: 'shop',
    version: '1',
    logger: (_level, message) => void warnings.push(String(message)),
    tools: {
      who: tool({ run: (_, ctx) => ctx.auth?.subject ?? 'nobody' }),
      count: tool({
        run: (_, ctx) => {
          for (const step of [1, 2, 3]) ctx.progress(step, 3);
          return 'counted';
        },
      }),
    },
  });
}

function serveTls(options: ServeOptions): Promise<Serving> {
  return serve(shop(), { port: 0, signals: false, drainMs: 0, ...options });
}

/** A handshake with the server; resolves with the socket, or rejects. */
function handshake({ port }: Serving, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ port, host: '127.0.0.1', ca: authority.ca, ...options }, () => {
      socket.end();
      resolve(socket);
    });
    socket.on('error', reject);
  });
}

/** Replaces a file at once: a file that is only half written would be reported, too. */
async function replaceFile(from: string, to: string): Promise<void> {
  await copyFile(from, `${to}.new`);
  await rename(`${to}.new`, to);
}

const nameOf = async (serving: Serving): Promise<unknown> => {
  const socket = await handshake(serving);
  return socket.getPeerX509Certificate()?.subject;
};

describe('serve with tls', () => {
  test.each(['paths', 'PEM text', 'bytes', 'file: URLs'])('accepts %s', async (form) => {
    const convert =
      {
        'PEM text': (_: string, pem: string) => pem,
        bytes: (_: string, pem: string) => Buffer.from(pem),
        'file: URLs': (path: string) => pathToFileURL(path).href,
      }[form] ?? ((path: string) => path);
    const [cert, key, ca] = [
      convert(own.certFile, own.cert),
      convert(own.keyFile, own.key),
      convert(authority.caFile, authority.ca),
    ];
    await using serving = await serveTls({ tls: { cert, key } });
    expect(serving.url).toBe(`https://localhost:${serving.port}/mcp`);
    expect((await callTool(serving.url, 'who', {}, { ca })).text).toBe('nobody');
  });

  test.each(['a path', 'bytes'])(
    'accepts a certificate and its key in PKCS #12 format as %s',
    async (form) => {
      const { file, bytes } = await authority.bundle(own, 'a password');
      const pfx = form === 'bytes' ? bytes : file;
      await using serving = await serveTls({ tls: { pfx, passphrase: 'a password' } });
      expect((await callTool(serving.url, 'who', {}, { ca: authority.ca })).text).toBe('nobody');
      await expect(serveTls({ tls: { pfx, passphrase: 'another password' } })).rejects.toThrow('tls');
    },
  );

  test.each(['2026-07-28', '2025-11-25', '2024-11-05'] as const)(
    'serves %s over HTTPS and WSS, with progress on a stream',
    async (revision) => {
      await using serving = await serveTls({ tls: { cert: own.cert, key: own.key } });
      const sse = revision === '2024-11-05' ? serving.url.replace(/mcp$/, 'sse') : serving.url;
      for (const url of [sse, serving.url.replace('https:', 'wss:')]) {
        await using client = await connect(url, { ca: authority.ca, revision });
        const steps: number[] = [];
        const result = await client.callTool(
          'count',
          {},
          { onProgress: ({ progress }) => steps.push(progress) },
        );
        expect([result.text, steps]).toEqual(['counted', [1, 2, 3]]);
        expect(client.server.revision).toBe(revision);
      }
    },
  );

  test('speaks HTTP/1.1 over TLS 1.2 and 1.3, and nothing older', async () => {
    await using serving = await serveTls({ tls: { cert: own.cert, key: own.key } });
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await handshake(serving, {
        minVersion: version,
        maxVersion: version,
        ALPNProtocols: ['h2', 'http/1.1'],
      });
      expect([socket.getProtocol(), socket.alpnProtocol]).toEqual([version, 'http/1.1']);
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const;
    await expect(handshake(serving, old)).rejects.toThrow(/version|protocol/i);
    await using strict = await serveTls({ tls: { cert: own.cert, key: own.key, minVersion: 'TLSv1.3' } });
    await expect(handshake(strict, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/version|protocol/i);
  });

  test('survives clients that do not speak TLS or leave during the handshake', async () => {
    await using serving = await serveTls({ tls: { cert: own.cert, key: own.key } });
    const error = await failureOf(McpError, connect(serving.url.replace('https:', 'http:')));
    expect(error.message).toContain(`http://localhost:${serving.port}/mcp`);
    await expect(handshake(serving, { ca: [] })).rejects.toThrow('certificate');
    expect((await callTool(serving.url, 'who', {}, { ca: authority.ca })).text).toBe('nobody');
  });
});

describe('a renewed certificate', () => {
  test('is used for new connections without a restart, and open ones continue', async () => {
    const live = join(authority.folder, 'live.pem');
    const liveKey = join(authority.folder, 'live-key.pem');
    await copyFile(own.certFile, live);
    await copyFile(own.keyFile, liveKey);
    await using serving = await serveTls({ tls: { cert: live, key: liveKey, reloadMs: 20 } });
    await using client = await connect(serving.url.replace('https:', 'wss:'), { ca: authority.ca });
    expect(await nameOf(serving)).toBe('CN=server');

    // The files do not belong together for a moment, as while certbot writes them.
    const renewed = await authority.issue('renewed');
    warnings.length = 0;
    await replaceFile(renewed.certFile, live);
    await until('the mismatch was reported', () => warnings.length > 0);
    expect(warnings[0]).toMatch(/key values mismatch.*continues with the certificate that it has/s);
    expect(await nameOf(serving)).toBe('CN=server');

    await replaceFile(renewed.keyFile, liveKey);
    await until('the new certificate is in use', async () => (await nameOf(serving)) === 'CN=renewed');
    expect(warnings).toHaveLength(1);
    expect((await client.callTool('who')).text).toBe('nobody');
  });

  test('that is garbage or gone is reported once, and the server continues', async () => {
    const live = join(authority.folder, 'garbage.pem');
    await copyFile(own.certFile, live);
    await using serving = await serveTls({ tls: { cert: live, key: own.keyFile, reloadMs: 10 } });
    warnings.length = 0;
    await writeFile(live, '');
    await until('it was reported', () => warnings.length > 0);
    for (let round = 0; round < 3; round++) expect(await nameOf(serving)).toBe('CN=server');
    expect(warnings).toHaveLength(1);
  });
});

describe('client certificates', () => {
  const identify: ServeOptions['auth'] = (incoming) => {
    const certificate = (incoming.socket as TLSSocket).getPeerX509Certificate();
    const subject = certificate?.subject.split('\n').find((line) => line.startsWith('CN='));
    return subject === undefined ? undefined : { subject: subject.slice(3) };
  };
  const serveMutual = (): Promise<Serving> =>
    serveTls({
      tls: { cert: own.cert, key: own.key, ca: authority.caFile, requestCert: true },
      auth: identify,
    });

  test('identify the caller to the handler, over HTTPS and WSS', async () => {
    await using serving = await serveMutual();
    const mine: ConnectOptions = { ca: authority.caFile, cert: ada.certFile, key: ada.keyFile };
    for (const url of [serving.url, serving.url.replace('https:', 'wss:')])
      expect((await callTool(url, 'who', {}, mine)).text).toBe('ada');
  });

  test('are required: a client without one, or with one of another authority, is not served', async () => {
    await using serving = await serveMutual();
    const without = await failureOf(McpError, connect(serving.url, { ca: authority.ca }));
    expect(without.code).toBe('connect_failed');
    expect(without.message).toContain('it requires a certificate of the client. Pass');
    await using stranger = await makeAuthority();
    const forged = await stranger.issue('ada', 'client');
    const options = { ca: authority.ca, cert: forged.cert, key: forged.key };
    for (const url of [serving.url, serving.url.replace('https:', 'wss:')])
      expect((await failureOf(McpError, connect(url, options))).code).toBe('connect_failed');
    // A certificate for servers is not one for clients.
    const wrongUse = { ca: authority.ca, cert: own.cert, key: own.key };
    expect((await failureOf(McpError, connect(serving.url, wrongUse))).code).toBe('connect_failed');
  });

  test('are given to the server’s own origin only, not to the target of a redirect', async () => {
    const seen: string[] = [];
    const elsewhere = createHttps({
      cert: own.cert,
      key: own.key,
      ca: authority.ca,
      requestCert: true,
      rejectUnauthorized: false,
    });
    elsewhere.on('secureConnection', () => seen.push('connected'));
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const to = `https://localhost:${(elsewhere.address() as AddressInfo).port}/mcp`;
    const front = createHttps({ cert: own.cert, key: own.key }, (_, reply) =>
      reply.writeHead(307, { location: to }).end(),
    );
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    try {
      const url = `https://localhost:${(front.address() as AddressInfo).port}/mcp`;
      const error = await failureOf(
        McpError,
        connect(url, { ca: authority.ca, cert: ada.cert, key: ada.key }),
      );
      expect(error.message).toContain(to);
      expect(seen).toEqual([]);
    } finally {
      front.close();
      elsewhere.close();
    }
  });

  test('of one server in a config are not shown to the others', async () => {
    await using serving = await serveMutual();
    const error = await failureOf(
      McpError,
      connect({ mcpServers: { a: { url: serving.url } } }, { cert: ada.cert, key: ada.key }),
    );
    expect(error.message).toContain('The option `cert` would be sent to every server of the config');
    await using group = await connect({
      mcpServers: { a: { url: serving.url, ca: authority.caFile, cert: ada.certFile, key: ada.keyFile } },
    });
    expect((await group.callTool('a_who')).text).toBe('ada');
  });
});

describe('the errors of a client', () => {
  test.each(['https:', 'wss:'])(
    'say to pass `ca` if the authority of a %s server is unknown',
    async (scheme) => {
      await using serving = await serveTls({ tls: { cert: own.cert, key: own.key } });
      const error = await failureOf(McpError, connect(serving.url.replace('https:', scheme)));
      expect(error.code).toBe('connect_failed');
      expect(error.message).toContain("pass the authority's certificate as the option `ca`");
    },
  );

  test('name the option and the file, but never show a key', async () => {
    const bare = ada.key.split('\n').slice(1, -2).join('');
    const cases: [ConnectOptions, RegExp][] = [
      [{ ca: '/nowhere/ca.pem' }, /`ca`, "\/nowhere\/ca.pem", .* ENOENT/],
      [{ ca: authority.folder }, /`ca`, .* EISDIR/],
      [{ cert: ada.cert, key: bare }, /`key` is neither PEM text nor a file that can be read/],
      [{ cert: ada.cert, key: own.key }, /key values mismatch/],
    ];
    for (const url of ['https://localhost:1/mcp', 'wss://localhost:1/mcp'])
      for (const [options, message] of cases) {
        const error = await failureOf(McpError, connect(url, options));
        expect(error.message).toMatch(message);
        expect(error.message).not.toContain(bare.slice(0, 20));
      }
  });
});

describe('wrong options of tls', () => {
  test.each<[string, object, RegExp]>([
    ['no key', { cert: 'x.pem' }, /needs `cert` and `key`/],
    [
      'a missing file',
      { cert: '/nowhere.pem', key: '/nowhere-key.pem' },
      /`cert`, "\/nowhere.pem", is neither/,
    ],
    ['requestCert without ca', { cert: 'a', key: 'b', requestCert: true }, /needs `tls.ca`/],
    ['rejectUnauthorized', { cert: 'a', key: 'b', rejectUnauthorized: false }, /always rejected/],
    [
      'a negative interval',
      { cert: 'a', key: 'b', reloadMs: -1 },
      /serve: tls: "reloadMs" must be a number of milliseconds, 0 or more, not -1\./,
    ],
  ])('are rejected before the server starts: %s', async (_name, wrong, message) => {
    let started = false;
    const server = createServer({
      name: 'x',
      version: '1',
      lifespan: async function* () {
        started = true;
        yield {};
      },
    } as never);
    await expect(serve(server, { port: 0, signals: false, tls: wrong })).rejects.toThrow(message);
    expect(started).toBe(false);
  });
});
