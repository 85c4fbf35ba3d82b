import { expect, test } from 'vitest';
import { createSafeFetch } from '../../../../src/oauth/fetch/create-safe-fetch.js';
import type { HopReply, HopRequest, SendHop } from '../../../../src/oauth/fetch/hop.js';
import {
  type SafeFetch,
  SafeFetchError,
  type SafeFetchInit,
} from '../../../../src/oauth/fetch/safe-fetch.js';
import { failureOf } from '../../../support/failure.js';

// The rules, with a `send` that replies from a table: nothing is sent.

interface Canned {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | AsyncIterable<Uint8Array>;
}

interface Rig {
  readonly fetch: SafeFetch;
  readonly sent: HopRequest[];
  readonly closed: () => number;
}

function rig(table: Record<string, Canned>, privateHosts?: readonly string[]): Rig {
  const sent: HopRequest[] = [];
  let closed = 0;
  const send: SendHop = async (request) => {
    sent.push(request);
    const { status = 200, headers = {}, body = '' } = table[request.url.href] ?? { status: 404 };
    const close = (): void => void closed++;
    return { status, headers: new Headers(headers), chunks: chunksOf(body), close } satisfies HopReply;
  };
  return { fetch: createSafeFetch({ send, userAgent: 'fullmcp', privateHosts }), sent, closed: () => closed };
}

async function* chunksOf(body: string | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (typeof body !== 'string') yield* body;
  else if (body !== '') yield new TextEncoder().encode(body);
}

const to = (location: string, status = 302): Canned => ({ status, headers: { location } });

test('a request has only the headers of its caller, and our name', async () => {
  const { fetch, sent } = rig({ 'https://as.example/token': { body: '{}' } });
  await fetch('https://as.example/token', {
    method: 'post',
    headers: new Headers({ accept: 'application/json', 'user-agent': 'a library' }),
    body: new URLSearchParams({ code: 'a b' }),
  });
  expect(sent[0]?.method).toBe('POST');
  expect(new TextDecoder().decode(sent[0]?.body)).toBe('code=a+b');
  expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({
    accept: 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
    'user-agent': 'fullmcp',
  });
});

test.each(['Cookie', 'Host', 'Proxy-Authorization', 'Transfer-Encoding', 'Connection'])(
  'the header %s cannot be set',
  async (name) => {
    const { fetch, sent } = rig({});
    await expect(fetch('https://as.example/', { headers: { [name]: 'x' } })).rejects.toThrow(TypeError);
    expect(sent).toHaveLength(0);
  },
);

test('a redirect to the same origin keeps the headers, and one to another origin drops everything that may be a credential', async () => {
  const { fetch, sent } = rig({
    'https://a.example/1': to('/2', 307),
    'https://a.example/2': to('https://b.example/3', 301),
    'https://b.example/3': to('https://a.example/4', 308),
    'https://a.example/4': { body: 'end' },
  });
  const secrets = { authorization: 'Bearer t', dpop: 'p', 'x-api-key': 'k' };
  const response = await fetch('https://a.example/1', { headers: { ...secrets, accept: 'x/y' } });
  expect(await response.text()).toBe('end');
  expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual([
    'Bearer t',
    'Bearer t',
    null,
    null,
  ]);
  expect(Object.fromEntries(sent[3]?.headers ?? [])).toEqual({
    accept: 'x/y',
    'accept-encoding': 'identity',
    'user-agent': 'fullmcp',
  });
});

test('another port or another scheme is another origin', async () => {
  const { fetch, sent } = rig({
    'https://a.example/': to('https://a.example:8443/'),
    'https://a.example:8443/': {},
  });
  await fetch('https://a.example/', { headers: { authorization: 'Bearer t' } });
  expect(sent[1]?.headers.has('authorization')).toBe(false);
});

test.each([
  ['https://169.254.169.254/latest', 'private_address'],
  ['https://10.0.0.1/', 'private_address'],
  ['https://2130706433/', 'private_address'],
  ['https://localhost/', 'private_address'],
  ['//[::1]/', 'private_address'],
  ['http://a.example/', 'bad_url'],
  ['javascript:alert(1)', 'bad_url'],
  ['file:///etc/passwd', 'bad_url'],
  ['data:application/json,{}', 'bad_url'],
  ['https://user:SECRET@b.example/', 'bad_url'],
  ['https://a b/', 'bad_redirect'],
] as const)('a redirect to %s is not followed', async (location, code) => {
  const { fetch, sent, closed } = rig({ 'https://a.example/': to(location) });
  const error = await failureOf(
    SafeFetchError,
    fetch('https://a.example/', { headers: { authorization: 'Bearer t' } }),
  );
  expect(error.code).toBe(code);
  expect(error.message).toMatch(/^https:\/\/a\.example\/ redirects \(302\)\./);
  expect(error.message).not.toContain('SECRET');
  expect(sent).toHaveLength(1);
  expect(closed()).toBe(1);
});

test('where loopback is allowed, a server on this computer may redirect to this computer, and a server elsewhere may not', async () => {
  const { fetch, sent } = rig({
    'http://localhost:1/': to('http://127.0.0.1:2/'),
    'http://127.0.0.1:2/': { body: 'here' },
    'https://a.example/': to('http://localhost:1/'),
  });
  const init: SafeFetchInit = { loopback: 'allow' };
  expect(await (await fetch('http://localhost:1/', init)).text()).toBe('here');
  expect((await failureOf(SafeFetchError, fetch('https://a.example/', init))).code).toBe('bad_url');
  expect(sent).toHaveLength(3);
});

test('a redirect from https to http is not followed, even to a host that the operator named with http', async () => {
  const { fetch } = rig({ 'https://a.example/': to('http://keycloak:8080/') }, ['http://keycloak:8080']);
  const error = await failureOf(SafeFetchError, fetch('https://a.example/'));
  expect(error).toMatchObject({ code: 'bad_redirect', message: expect.stringContaining('uses http') });
});

test('redirects are bounded, and a redirect without an address is an error', async () => {
  const { fetch, sent } = rig({
    'https://a.example/': to('https://a.example/'),
    'https://b.example/': { status: 302 },
  });
  expect((await failureOf(SafeFetchError, fetch('https://a.example/'))).message).toContain(
    'more than 3 redirects',
  );
  expect(sent).toHaveLength(4);
  expect((await failureOf(SafeFetchError, fetch('https://a.example/', { maxRedirects: 0 }))).code).toBe(
    'bad_redirect',
  );
  expect(sent).toHaveLength(5);
  expect((await failureOf(SafeFetchError, fetch('https://b.example/'))).message).toContain(
    'does not say where to',
  );
});

test.each(['POST', 'PUT', 'DELETE'])('a %s is never sent to another address', async (method) => {
  const { fetch, sent } = rig({ 'https://a.example/': to('https://a.example/2', 307) });
  expect(
    (await failureOf(SafeFetchError, fetch('https://a.example/', { method, body: 'code=1' }))).code,
  ).toBe('bad_redirect');
  expect(sent).toHaveLength(1);
});

test('redirects are returned or rejected where the caller wants that', async () => {
  const { fetch } = rig({ 'https://a.example/': to('https://10.0.0.1/') });
  const response = await fetch('https://a.example/', { redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([302, 'https://10.0.0.1/']);
  expect((await failureOf(SafeFetchError, fetch('https://a.example/', { redirect: 'error' }))).code).toBe(
    'bad_redirect',
  );
});

test('a body that exceeds the limit is cut, whatever its announced length', async () => {
  let produced = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      produced++;
      yield new Uint8Array(1000);
    }
  }
  const { fetch, closed } = rig({
    'https://a.example/endless': { body: endless() },
    'https://a.example/announced': { headers: { 'content-length': '5000' }, body: endless() },
    'https://a.example/fits': { headers: { 'content-length': '4' }, body: 'fits' },
  });
  expect((await failureOf(SafeFetchError, fetch('https://a.example/endless', { maxBytes: 4000 }))).code).toBe(
    'too_large',
  );
  expect(produced).toBe(5);
  expect(
    (await failureOf(SafeFetchError, fetch('https://a.example/announced', { maxBytes: 4000 }))).code,
  ).toBe('too_large');
  expect(produced).toBe(5);
  expect(await (await fetch('https://a.example/fits', { maxBytes: 4 })).text()).toBe('fits');
  expect(closed()).toBe(3);
});

test('a request that takes too long ends, even if the runtime ignores the signal', async () => {
  async function* never(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1);
    await new Promise(() => undefined);
  }
  const { fetch, closed } = rig({ 'https://a.example/': { body: never() } });
  const error = await failureOf(SafeFetchError, fetch('https://a.example/', { timeoutMs: 20 }));
  expect(error).toMatchObject({
    code: 'timeout',
    message: 'https://a.example/ took more than 0.02 s to reply.',
  });
  expect(closed()).toBeGreaterThan(0);
});

test('an abort of the caller rejects with the reason of the caller', async () => {
  const { fetch, sent } = rig({ 'https://a.example/': {} });
  const reason = new DOMException('too slow', 'TimeoutError');
  await expect(fetch('https://a.example/', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(sent).toHaveLength(0);
});

test('replies without a body and with an impossible status', async () => {
  const { fetch } = rig({
    'https://a.example/204': { status: 204 },
    'https://a.example/999': { status: 999 },
  });
  expect((await fetch('https://a.example/204')).body).toBeNull();
  expect((await failureOf(SafeFetchError, fetch('https://a.example/999'))).code).toBe('bad_reply');
});

test('no message contains the query of a URL', async () => {
  const { fetch } = rig({ 'https://a.example/?code=SECRET': to('https://a.example/?code=SECRET') });
  for (const url of [
    'https://a.example/?code=SECRET',
    'http://a.example/?code=SECRET',
    'https://10.0.0.1/?code=SECRET',
  ]) {
    expect((await failureOf(SafeFetchError, fetch(url))).message).not.toContain('SECRET');
  }
});
