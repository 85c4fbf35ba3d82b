import { displayUrl } from '../../protocol/secrets/display-url.js';
import { USER_AGENT } from '../../protocol/version.js';
import { createSafeFetch, type SafeFetchOptions } from './create-safe-fetch.js';
import type { HopReply, HopRequest } from './hop.js';
import { type SafeFetch, SafeFetchError } from './safe-fetch.js';

/** The options of a hardened fetch over the runtime's own `fetch`. */
export interface WebSafeFetchOptions extends SafeFetchOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * The hardened fetch of Workers and browsers, over their own `fetch`. It checks addresses and names in the URL. These runtimes do
 * not show what a name resolves to: Workers refuse private addresses themselves, and browsers are in the user's own network.
 */
export function webSafeFetch(options: WebSafeFetchOptions = {}): SafeFetch {
  const { fetch = globalThis.fetch, privateHosts } = options;
  // workerd rejects the options that it does not implement, and needs none of them.
  const hasAmbient = 'credentials' in Request.prototype;
  const isBrowser = hasAmbient && ('document' in globalThis || 'WorkerGlobalScope' in globalThis);
  const ambient: RequestInit = hasAmbient ? { credentials: 'omit', referrerPolicy: 'no-referrer' } : {};
  return createSafeFetch({
    privateHosts,
    // In a browser, this header would ask for permission first, which few servers give.
    userAgent: isBrowser ? undefined : USER_AGENT,
    send: async (request) => replyOf(await respond(fetch, request, ambient), request.url),
  });
}

async function respond(
  fetch: typeof globalThis.fetch,
  { url, method, headers, body, signal }: HopRequest,
  ambient: RequestInit,
): Promise<Response> {
  try {
    return await fetch(url.href, {
      method,
      headers,
      redirect: 'manual',
      signal,
      ...ambient,
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new SafeFetchError('connect_failed', `${displayUrl(url)} cannot be reached.`, { cause: error });
  }
}

function replyOf(response: Response, url: URL): HopReply {
  // A browser does not show where a redirect leads.
  if (response.type === 'opaqueredirect')
    throw new SafeFetchError(
      'bad_redirect',
      `${displayUrl(url)} redirects, and the browser hides where to. Use the final address.`,
    );
  const { status, headers, body } = response;
  const close = (): void => void body?.cancel().catch(() => undefined);
  return { status, headers, chunks: chunksOf(body, url), close };
}

async function* chunksOf(body: Response['body'], url: URL): AsyncGenerator<Uint8Array, void> {
  if (body === null) return;
  // Not every browser can loop over a stream.
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw new SafeFetchError('connect_failed', `${displayUrl(url)} ended its reply too early.`, {
      cause: error,
    });
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
