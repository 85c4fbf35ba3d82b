import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedInspector, serveInspector } from '../../../src/inspector/host/serve-inspector.js';
import { until } from '../../support/until.js';
import { ask, type Visit, visit } from './support/browser.js';
import { eventNumber, type FakeInspector, fakeInspector } from './support/fake-inspector.js';

let inspector: FakeInspector;
let served: ServedInspector;
let user: Visit;
beforeAll(async () => {
  inspector = fakeInspector();
  served = await serveInspector(inspector);
  user = await visit(served.url);
});
afterAll(() => served.close());

const PATHS = ['', 'api/snapshot', 'api/events?after=0', 'api/outcome/7', 'assets/x.js', 'api/run/ping'];

describe('without the token', () => {
  it('nothing is served but a page in plain words', async () => {
    for (const path of PATHS) {
      const { status, headers, body } = await ask(user.at(path));
      expect(status, path).toBe(401);
      expect(body).toContain('needs its token');
      expect(headers['set-cookie']).toBeUndefined();
    }
    const root = await ask(`http://127.0.0.1:${served.port}/`);
    expect([root.status, root.headers['content-security-policy']]).toEqual([
      401,
      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ]);
  });

  it('a wrong token is refused in the address and in the cookie, also one that begins with the right one', async () => {
    const { token } = Object.fromEntries(new URL(served.url).searchParams) as { token: string };
    const wrong = ['', 'x', token.slice(0, -1), `${token}x`, token.toUpperCase(), 'x'.repeat(100_000)];
    for (const guess of wrong.slice(0, -1)) {
      expect((await ask(user.at(`?token=${guess}`))).status, guess).toBe(401);
      const cookie = user.cookie.replace(/=.*/, `=${guess}`);
      expect((await ask(user.at('api/snapshot'), { headers: { cookie } })).status, guess).toBe(401);
    }
    // The request itself is too long. The server may close the connection before the client has written all of it.
    const answer = await ask(user.at(`?token=${wrong.at(-1)}`)).catch(
      (error: { code: string }) => error.code,
    );
    expect(typeof answer === 'string' ? answer : answer.status).toBeOneOf([431, 'ECONNRESET', 'EPIPE']);
  });

  it('the token in the address opens the page alone, not the API', async () => {
    const { search } = new URL(served.url);
    expect((await ask(user.at(`api/snapshot${search}`))).status).toBe(401);
  });

  it('the cookie of another inspector does not count', async () => {
    const other = await serveInspector(fakeInspector());
    const { cookie } = await visit(other.url);
    expect((await ask(user.at('api/snapshot'), { headers: { cookie } })).status).toBe(401);
    await other.close();
  });

  it('a cookie of the same name that another server has set does not lock the user out', async () => {
    const cookie = `${user.cookie.replace(/=.*/, '=tossed')}; ${user.cookie}`;
    expect((await ask(user.at('api/snapshot'), { headers: { cookie } })).status).toBe(200);
  });

  it('the cookie stays below a path that other servers of this computer do not know', async () => {
    const [cookie = ''] = user.page.headers['set-cookie'] ?? [];
    const [, path = ''] = /Path=([^;]+)/.exec(cookie) ?? [];
    expect(path).toMatch(/^\/[\w-]{11}\/$/);
    expect(user.at('').pathname).toBe(path);
  });
});

describe('another host or page', () => {
  it('is refused if its name was made to point here (DNS rebinding)', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${served.port}`,
      '127.0.0.1',
      'localhost:1',
      `127.0.0.1:${served.port}.evil.example`,
    ]) {
      const { status } = await ask(served.url, { headers: { host } });
      expect(status, host).toBeGreaterThanOrEqual(400);
      const api = await user.get('api/snapshot', { host });
      expect(api.status, host).toBeGreaterThanOrEqual(400);
    }
    expect((await user.get('api/snapshot', { host: `localhost:${served.port}` })).status).toBe(200);
  });

  it('is refused behind a proxy that serves other computers', async () => {
    for (const name of ['forwarded', 'x-forwarded-for', 'x-real-ip'])
      expect((await user.get('api/snapshot', { [name]: '203.0.113.7' })).status, name).toBe(403);
  });

  it('cannot run a command, even with the cookie', async () => {
    const before = inspector.ran.length;
    const origins = [
      'https://evil.example',
      'null',
      `http://127.0.0.1:${served.port + 1}`,
      `https://127.0.0.1:${served.port}`,
    ];
    for (const origin of origins)
      expect((await user.post('api/run/connect', { text: 'rm -rf /' }, { origin })).status, origin).toBe(403);
    for (const site of ['cross-site', 'same-site', 'none'])
      expect((await user.post('api/run/connect', {}, { 'sec-fetch-site': site })).status, site).toBe(403);
    // A request of no known page: neither header.
    const silent = await ask(user.at('api/run/connect'), {
      method: 'POST',
      headers: { cookie: user.cookie, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(silent.status).toBe(403);
    expect(inspector.ran.length).toBe(before);
  });

  it('cannot listen to the events', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ])
      expect(
        (await user.get('api/events?after=0', headers as unknown as Record<string, string>)).status,
      ).toBe(403);
  });

  it('cannot send a form, or text that passes without a preflight', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      '',
    ])
      expect((await user.post('api/run/ping', {}, { 'content-type': type })).status, type).toBe(415);
    for (const body of ['[]', '1', '"x"', 'null', '{', ''])
      expect(
        (
          await ask(user.at('api/run/ping'), {
            method: 'POST',
            headers: { cookie: user.cookie, 'content-type': 'application/json', origin: user.at('').origin },
            body,
          })
        ).status,
        body,
      ).toBe(400);
  });

  it('cannot put the page into a frame', async () => {
    for (const path of ['', 'api/snapshot', 'api/nothing']) {
      const { headers } = await user.get(path);
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
      });
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('gets no preflight answered', async () => {
    const { status, headers } = await ask(user.at('api/run/ping'), {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect([status, headers['access-control-allow-origin']]).toEqual([401, undefined]);
  });

  it('cannot open a WebSocket, with or without the cookie', async () => {
    for (const cookie of ['', user.cookie]) {
      const text = await raw(
        `GET ${user.at('api/events').pathname} HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nCookie: ${cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
      expect(text).toMatch(/^HTTP\/1\.1 403 /);
    }
  });
});

describe('a path', () => {
  it('never reaches the disk', async () => {
    const base = user.at('').pathname;
    const paths = [
      '../../package.json',
      'assets/../../page.json',
      '..%2f..%2fpackage.json',
      'page.json',
      'index.html.br',
      'index.html',
      'assets/',
      '%00',
      'assets/%2e%2e/page.json',
      '__proto__',
      'constructor',
    ];
    for (const path of paths) {
      const text = await raw(
        `GET ${base}${path} HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nCookie: ${user.cookie}\r\nConnection: close\r\n\r\n`,
      );
      expect(text, path).toMatch(/^HTTP\/1\.1 404 /);
    }
    for (const path of [
      'api/catalog/%',
      'api/catalog/%ff',
      'api/run/__proto__',
      'api/run/..%2f..',
      'api/message/1e9',
    ])
      expect((await user.get(path)).status, path).toBeGreaterThanOrEqual(404);
  });
});

describe('too much', () => {
  it('in a body is refused before it is read', async () => {
    const { status } = await announce(33 * 1024 * 1024);
    expect(status).toBe(413);
  });

  it('in a body without a length is refused when it is too long', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 32);
    let sent = 0;
    const status = await new Promise<number>((resolve, reject) => {
      const req = request(user.at('api/run/ping'), {
        method: 'POST',
        agent: false,
        headers: { cookie: user.cookie, 'content-type': 'application/json', origin: user.at('').origin },
      });
      req.on('response', (res) => {
        resolve(res.statusCode ?? 0);
        req.destroy();
      });
      req.on('error', (error) => (sent > 32 ? resolve(413) : reject(error)));
      const more = (): void => {
        if (sent++ < 64 && !req.destroyed) req.write(chunk, more);
      };
      more();
    });
    expect(status).toBe(413);
    expect(sent).toBeLessThan(64);
  });

  it('of pages at once is refused, and the others go on', async () => {
    const sockets: Socket[] = [];
    const answers: string[] = [];
    for (let at = 0; at < 1000; at++) {
      const socket = connect(served.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.once('data', (data) => answers.push(String(data)));
      socket.once('close', () => answers.push('closed'));
      socket.write(
        `GET ${user.at('api/events').pathname}?after=0 HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nCookie: ${user.cookie}\r\n\r\n`,
      );
      sockets.push(socket);
    }
    await until('all connections are answered', () => answers.length >= 1000);
    const open = answers.filter((text) => text.startsWith('HTTP/1.1 200')).length;
    expect(open).toBe(32);
    expect(inspector.listeners()).toBe(1);
    for (const socket of sockets) socket.destroy();
    await until('nobody listens', () => inspector.listeners() === 0);
    expect((await user.get('api/snapshot')).status).toBe(200);
  });

  it('for a page that does not read cuts it off, and the memory stays small', async () => {
    const socket = connect(served.port, '127.0.0.1');
    let isClosed = false;
    socket
      .on('error', () => undefined)
      .once('close', () => {
        isClosed = true;
      });
    socket.write(
      `GET ${user.at('api/events').pathname}?after=0 HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nCookie: ${user.cookie}\r\n\r\n`,
    );
    await until('the page listens', () => inspector.listeners() === 1);
    socket.pause();
    const text = 'x'.repeat(1024 * 1024);
    for (let seq = 1000; seq < 1100 && inspector.listeners() > 0; seq++) {
      inspector.publish(eventNumber(seq, text));
      await new Promise((done) => setImmediate(done));
    }
    await until('nobody listens', () => inspector.listeners() === 0);
    socket.resume();
    await until('the page is cut off', () => isClosed);
    expect((await user.get('api/snapshot')).status).toBe(200);
  });
});

/** Announces a body of this length, and sends nothing of it. */
function announce(length: number): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    const req = request(user.at('api/run/importTape'), {
      method: 'POST',
      agent: false,
      headers: {
        cookie: user.cookie,
        'content-type': 'application/json',
        origin: user.at('').origin,
        'content-length': length,
      },
    });
    req.on('response', (res) => {
      resolve({ status: res.statusCode ?? 0 });
      req.destroy();
    });
    req.on('error', reject);
    req.flushHeaders();
  });
}

/** Sends exactly this text. Resolves with everything that came back. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(served.port, '127.0.0.1');
    let got = '';
    socket.on('data', (data) => {
      got += String(data);
    });
    socket.once('error', reject).once('close', () => resolve(got));
    socket.write(text);
  });
}
