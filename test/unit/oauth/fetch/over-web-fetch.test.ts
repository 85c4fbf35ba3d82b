import { afterEach, expect, test, vi } from 'vitest';
import { webSafeFetch } from '../../../../src/oauth/fetch/over-web-fetch.js';

// Over an injected `fetch`: nothing is sent.

afterEach(() => vi.unstubAllGlobals());

type Fetch = typeof globalThis.fetch;

function recorded(reply: (url: string) => Response | Promise<Response>): {
  fetch: Fetch;
  calls: [string, RequestInit][];
} {
  const calls: [string, RequestInit][] = [];
  const fetch: Fetch = async (url, init = {}) => {
    calls.push([String(url), init]);
    return await reply(String(url));
  };
  return { fetch, calls };
}

test('a request takes no cookies and no referrer, follows no redirect by itself, and has our name', async () => {
  const { fetch, calls } = recorded(() => new Response('{"a":1}'));
  const response = await webSafeFetch({ fetch })('https://as.example/x', { headers: { accept: 'x/y' } });
  expect(await response.json()).toEqual({ a: 1 });
  const [url, init] = calls[0] ?? [];
  expect(url).toBe('https://as.example/x');
  expect(init).toMatchObject({ credentials: 'omit', redirect: 'manual', referrerPolicy: 'no-referrer' });
  expect(new Headers(init?.headers).get('user-agent')).toMatch(/^fullmcp\/\d+\.\d+\.\d+/);
});

test('in a browser, no User-Agent is set, because it would cause a preflight request', async () => {
  vi.stubGlobal('document', {});
  const { fetch, calls } = recorded(() => new Response());
  await webSafeFetch({ fetch })('https://as.example/');
  expect(new Headers(calls[0]?.[1].headers).has('user-agent')).toBe(false);
});

test('a runtime whose requests do not know credentials gets no such option', async () => {
  vi.stubGlobal('Request', class {});
  const { fetch, calls } = recorded(() => new Response());
  await webSafeFetch({ fetch })('https://as.example/');
  expect(Object.keys(calls[0]?.[1] ?? {}).sort()).toEqual(['headers', 'method', 'redirect', 'signal']);
});

test.each([
  'https://169.254.169.254/',
  'https://127.0.0.1/',
  'https://0x7f.1/',
  'https://[::ffff:10.0.0.1]/',
  'https://localhost./',
  'https://metadata.google.internal/',
])('%s is refused by its form', async (url) => {
  const { fetch, calls } = recorded(() => new Response());
  await expect(webSafeFetch({ fetch })(url)).rejects.toMatchObject({ code: 'private_address' });
  expect(calls).toHaveLength(0);
});

test('redirects are followed by hand, with the same checks', async () => {
  const { fetch, calls } = recorded((url) =>
    url === 'https://as.example/' ? Response.redirect('https://10.0.0.1/', 302) : new Response(),
  );
  await expect(webSafeFetch({ fetch })('https://as.example/')).rejects.toMatchObject({
    code: 'private_address',
  });
  expect(calls).toHaveLength(1);
});

test('a redirect that the browser hides is an error', async () => {
  const hidden = Object.defineProperty(new Response(null), 'type', { value: 'opaqueredirect' });
  const { fetch } = recorded(() => hidden);
  await expect(webSafeFetch({ fetch })('https://as.example/')).rejects.toMatchObject({
    code: 'bad_redirect',
  });
});

test('an endless body is cut and its stream is cancelled', async () => {
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1000)),
    cancel: () => {
      cancelled = true;
    },
  });
  const { fetch } = recorded(() => new Response(endless));
  await expect(webSafeFetch({ fetch })('https://as.example/', { maxBytes: 5000 })).rejects.toMatchObject({
    code: 'too_large',
  });
  expect(cancelled).toBe(true);
});

test('a failed request and a broken body have a code, and no message has the query', async () => {
  const broken = new ReadableStream({ start: (controller) => controller.error(new Error('reset')) });
  const { fetch } = recorded((url) => {
    if (url.includes('broken')) return new Response(broken);
    throw new TypeError('fetch failed');
  });
  const safe = webSafeFetch({ fetch });
  for (const path of ['broken', 'refused']) {
    const error = await safe(`https://as.example/${path}?code=SECRET`).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect(String(error)).not.toContain('SECRET');
  }
});

test('a fetch that ignores its signal ends at the time limit', async () => {
  const { fetch } = recorded(() => new Promise(() => undefined));
  await expect(webSafeFetch({ fetch })('https://as.example/', { timeoutMs: 20 })).rejects.toMatchObject({
    code: 'timeout',
  });
});
