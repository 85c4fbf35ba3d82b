import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedInspector, serveInspector } from '../../../src/inspector/host/serve-inspector.js';
import { ask, type Visit, visit } from './support/browser.js';
import { listenToEvents } from './support/events.js';
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

describe('the page of the inspector', () => {
  it('comes with the cookie in one reply, so that the first paint needs one round trip', () => {
    const [cookie = ''] = user.page.headers['set-cookie'] ?? [];
    expect(user.page.status).toBe(200);
    expect(user.page.body).toContain('<style>');
    expect(cookie).toMatch(
      /^fullmcp-inspector-\d+=[\w-]{43}; Path=\/[\w-]{11}\/; HttpOnly; SameSite=Strict$/,
    );
  });

  it('has a policy without inline script, and the hash of its own styles', () => {
    const policy = String(user.page.headers['content-security-policy']);
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-[\w+/=]{44}'; img-src 'self' data: blob:; media-src data: blob:; font-src 'self'; connect-src 'self'; frame-src http:\/\/127\.0\.0\.1:\d+; frame-ancestors 'none'; base-uri 'none'; form-action 'none'$/,
    );
    expect(user.page.body).not.toMatch(/<script(?![^>]*\bsrc=)/);
  });

  it('has its files compressed, immutable, and from the package only', async () => {
    const [, script = ''] = /src="\.\/(assets\/[^"]+\.js)"/.exec(user.page.body) ?? [];
    const plain = await user.get(script);
    expect(plain.headers['cache-control']).toBe('private, max-age=31536000, immutable');
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
    const small = await user.get(script, { 'accept-encoding': 'gzip, deflate, br' });
    expect(small.headers['content-encoding']).toBe('br');
    expect(Number(small.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']));
    const other = await user.get(script, { 'accept-encoding': 'gzip, br;q=0' });
    expect(other.headers['content-encoding']).toBeUndefined();
    expect(other.body).toBe(plain.body);
    const response = await fetch(user.at(script), { headers: { cookie: user.cookie } });
    expect(await response.text()).toBe(plain.body);
  });

  it('is not changed by HEAD, and takes no other method', async () => {
    const head = await ask(user.at(''), { method: 'HEAD', headers: { cookie: user.cookie } });
    expect([head.status, head.body]).toEqual([200, '']);
    const posted = await user.post('', {});
    expect(posted.status).toBe(405);
  });
});

describe('the requests of the page', () => {
  it('get a snapshot that names the sandbox, and nothing is stored', async () => {
    const { headers, json } = await user.get('api/snapshot');
    expect(headers['cache-control']).toBe('no-store');
    expect(json()).toMatchObject({
      seq: 0,
      mayConnect: true,
      sandboxOrigin: expect.stringMatching(/^http:/),
    });
  });

  it('run commands, and get failures in words', async () => {
    expect((await user.post('api/run/ping', { connection: 'c' })).json()).toEqual({ done: 'ping' });
    expect(inspector.ran.at(-1)).toEqual({ command: 'ping', input: { connection: 'c' } });
    const failed = await user.post('api/run/fail', {});
    expect(failed.status).toBe(422);
    expect(failed.json()).toEqual({
      error: { code: 'invalid_params', message: 'Say which tool.', data: { field: 'tool' } },
    });
    const crashed = await user.post('api/run/crash', {});
    expect([crashed.status, crashed.json()['error']]).toEqual([
      500,
      { code: 'internal_error', message: 'The inspector failed: undefined is not a function' },
    ]);
  });

  it('get catalogs, messages, and downloads', async () => {
    expect((await user.get('api/catalog/c%2F1')).json()).toMatchObject({ version: 1 });
    expect((await user.get('api/message/5')).json()).toMatchObject({ seq: 5 });
    const outcome = await user.get('api/outcome/7');
    expect(outcome.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="outcome-7.json"',
    });
    const tape = await user.get('api/tape/c%2F1');
    expect(tape.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    expect(tape.body).toBe('{"a":1}\n');
    for (const path of [
      'api/catalog/x',
      'api/message/x',
      'api/outcome/8',
      'api/tape/x',
      'api/none',
      'api/run/a/b',
    ])
      expect((await user.get(path)).status, path).toBe(404);
  });
});

describe('the events of the inspector', () => {
  it('have numbers, begin after the one that the page has, and go on', async () => {
    inspector.publish(eventNumber(1));
    inspector.publish(eventNumber(2));
    await using events = await listenToEvents(user, 'api/events?after=1');
    expect(await events.next()).toMatchObject({ id: '2', data: { seq: 2 } });
    inspector.publish(eventNumber(3));
    expect(await events.next()).toMatchObject({ id: '3', data: { id: 'c3' } });
  });

  it('begin after the number in the header of a browser that reconnects', async () => {
    await using events = await listenToEvents(user, 'api/events?after=0', { 'last-event-id': '2' });
    expect(await events.next()).toMatchObject({ id: '3' });
  });

  it('tell the page to begin again if they are not kept any more', async () => {
    await using events = await listenToEvents(user, 'api/events');
    expect(await events.next()).toMatchObject({ event: 'reset' });
    expect(await events.next()).toBeUndefined();
  });
});

describe('the sandbox of apps', () => {
  it('has an origin of its own, which serves one page for the inspector alone', async () => {
    const { sandboxOrigin = '' } = (await user.get('api/snapshot')).json<{ sandboxOrigin?: string }>();
    expect(sandboxOrigin).not.toBe(user.at('').origin);
    const page = await ask(sandboxOrigin);
    expect(page.status).toBe(200);
    expect(page.headers['content-security-policy']).toContain(`frame-ancestors ${user.at('').origin} `);
    for (const path of ['/x', '/api/snapshot', '/?token=x'])
      expect((await ask(new URL(path, sandboxOrigin))).status).toBe(404);
    const known = await ask(new URL('/?origins=https://api.example', sandboxOrigin));
    expect(known.headers['connection-allowlist']).toBe('("https://api.example");redirects=allow');
    expect((await ask(sandboxOrigin, { headers: { host: 'evil.example' } })).status).toBe(404);
  });
});
