import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { browserUserAgent } from '../../../../../src/adapters/node/oauth/loopback.js';
import type { Redirection } from '../../../../../src/oauth/client/grants/authorization-code.js';
import type { WaitingUserAgent } from '../../../../../src/oauth/client/user-agent.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import { failureOf } from '../../../../support/failure.js';
import { freePort } from '../../../../support/free-port.js';
import { until } from '../../../../support/until.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const URL_OF_LOGIN = 'https://as.example/authorize?state=s1';
const forever = new AbortController().signal;

interface Options {
  readonly redirectUri?: string;
  readonly preferred?: readonly string[];
  readonly open?: (url: string) => unknown;
}

async function start({ redirectUri, preferred = [], open = () => {} }: Options = {}) {
  const agent = await browserUserAgent({ redirectUri, open, name: 'Test <program>' }).start({ preferred });
  closing.push(agent.close);
  return agent;
}

function login({ authorize }: WaitingUserAgent, signal = forever): Promise<Redirection> {
  const result = authorize({ url: URL_OF_LOGIN, state: 's1', signal });
  result.catch(() => undefined);
  return result;
}

test('the browser is opened with the URL, and its redirect is the result of the login', async () => {
  const opened: string[] = [];
  const agent = await start({ open: (url) => opened.push(url) });
  expect(agent.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const result = login(agent);
  const page = fetch(`${agent.redirectUri}?code=c1&state=s1&iss=https%3A%2F%2Fas.example`);
  const { url, finish } = await result;
  expect(opened).toEqual([URL_OF_LOGIN]);
  expect(url).toBe(`${agent.redirectUri}?code=c1&state=s1&iss=https%3A%2F%2Fas.example`);
  // The page waits for the tokens, so that it does not promise too much.
  finish?.({ error: undefined });
  const response = await page;
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('go back to Test &lt;program&gt;.');
});

test('the last page says why a login has failed, cannot be framed or cached, and loads and runs nothing', async () => {
  const agent = await start();
  const result = login(agent);
  const page = fetch(`${agent.redirectUri}?error=access_denied&state=s1`);
  (await result).finish?.({ error: 'The user said <no>.' });
  const response = await page;
  const text = await response.text();
  expect(response.status).toBe(400);
  expect(text).toContain('The login failed');
  expect(text).toContain('The user said &lt;no&gt;.');
  expect(text).not.toMatch(/<script|src=|href=/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test.each([
  ['another state', 'GET', '/callback?code=c&state=other', 400],
  ['no state', 'GET', '/callback?code=c', 400],
  ['another path', 'GET', '/other?code=c&state=s1', 404],
  ['another method', 'POST', '/callback?code=c&state=s1', 404],
  ['the whole URL of another host', 'GET', 'http://evil.example/callback?code=c&state=s1', 404],
  ['a favicon', 'GET', '/favicon.ico', 404],
])('a request with %s does not end the login', async (_, method, path, status) => {
  const agent = await start();
  const result = login(agent);
  let isOver = false;
  void result.finally(() => {
    isOver = true;
  });
  const { port } = new URL(agent.redirectUri);
  const forged = request({ host: '127.0.0.1', port, method, path }).end();
  const [response] = await once(forged, 'response');
  expect(response.statusCode).toBe(status);
  expect(isOver).toBe(false);
  void fetch(`${agent.redirectUri}?code=c1&state=s1`).catch(() => undefined);
  expect((await result).url).toContain('code=c1');
});

test('a second redirect changes nothing, and gets no page that says that the user is logged in', async () => {
  const agent = await start();
  const result = login(agent);
  void fetch(`${agent.redirectUri}?code=first&state=s1`).catch(() => undefined);
  expect((await result).url).toContain('code=first');
  const second = await fetch(`${agent.redirectUri}?code=second&state=s1`);
  expect(second.status).toBe(404);
});

test('the redirect URI of an earlier registration is used again, and another one if its port is taken', async () => {
  const preferred = [`http://127.0.0.1:${await freePort()}/callback`];
  const first = await start({ preferred });
  expect(first.redirectUri).toBe(preferred[0]);
  const second = await start({ preferred });
  expect(second.redirectUri).not.toBe(preferred[0]);
  await first.close();
  expect((await start({ preferred })).redirectUri).toBe(preferred[0]);
});

test('stored redirect URIs that do not lead to this computer are ignored', async () => {
  const preferred = [
    'https://app.example/callback',
    'myapp:/callback',
    'http://192.0.2.1:80/callback',
    'no URL',
  ];
  expect((await start({ preferred })).redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:/);
});

test('with localhost in the redirect URI, the browser may use either address of this computer', async () => {
  const redirectUri = `http://localhost:${await freePort()}/back`;
  const agent = await start({ redirectUri });
  const result = login(agent);
  void fetch(`${redirectUri.replace('localhost', '127.0.0.1')}?code=c1&state=s1`).catch(() => undefined);
  // The URL is the registered one, under any name that the browser asked for.
  expect((await result).url).toBe(`${redirectUri}?code=c1&state=s1`);
});

test.each(['https://app.example/callback', 'http://192.0.2.1:80/callback', 'http://127.0.0.1/callback'])(
  'the redirect URI %s is refused, because this computer cannot wait there',
  async (redirectUri) => {
    const error = await failureOf(McpError, start({ redirectUri }));
    expect(error).toMatchObject({ code: 'invalid_request' });
    expect(error.message).toContain(redirectUri);
    expect(error.message).toContain('`authorize`');
  },
);

test('with localhost in the redirect URI, a program that listens at the other address of the port is noticed', async ({
  skip,
}) => {
  const port = await freePort();
  const other = createServer().listen(port, '::1');
  const isListening = await Promise.race([
    once(other, 'listening').then(() => true),
    once(other, 'error').then(() => false),
  ]);
  if (!isListening) skip('There is no IPv6 here.');
  closing.push(() => other.close());
  const redirectUri = `http://localhost:${port}/back`;
  const error = await failureOf(McpError, start({ redirectUri }));
  expect(error.message).toContain('its port is not free (EADDRINUSE)');
  // Nothing of this program listens any more.
  await expect(fetch(`http://127.0.0.1:${port}/back`)).rejects.toThrow();
  const agent = await start({ preferred: [redirectUri] });
  expect(agent.redirectUri).not.toContain(`:${port}/`);
});

test('a redirect URI whose port is taken is reported, if the program demands it', async () => {
  const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  await start({ redirectUri });
  const error = await failureOf(McpError, start({ redirectUri }));
  expect(error.message).toContain(`${redirectUri} cannot be used: its port is not free (EADDRINUSE)`);
});

test('a browser that cannot be opened ends the login', async () => {
  const own = new McpError('unauthorized', 'There is no browser.');
  const agent = await start({ open: () => Promise.reject(own) });
  expect(await failureOf(McpError, login(agent))).toBe(own);
  const other = await start({
    open() {
      throw new Error('secret');
    },
  });
  const error = await failureOf(McpError, login(other));
  expect(error.message).toContain('The function given as `open` failed');
  expect(error.message).not.toContain('secret');
});

test('a login that is given up rejects with the reason, and nothing listens any more after its end', async () => {
  const agent = await start();
  const stop = new AbortController();
  const result = login(agent, stop.signal);
  stop.abort(new Error('given up'));
  expect((await failureOf(Error, result)).message).toBe('given up');
  await agent.close();
  await expect(fetch(agent.redirectUri)).rejects.toThrow();
});

test('the end of a login waits for the last page, but not for a browser that does not read it', async () => {
  const agent = await start();
  const result = login(agent);
  const { port } = new URL(agent.redirectUri);
  const lazy = request({ host: '127.0.0.1', port, path: '/callback?code=c1&state=s1' }).end();
  lazy.on('error', () => undefined);
  // Without a listener the reply would be dropped; with one that does not read, it stays in the connection.
  lazy.on('response', (response) => response.pause());
  const { finish } = await result;
  finish?.({ error: undefined });
  await agent.close();
  await until('the connection is closed', () => lazy.destroyed);
});
