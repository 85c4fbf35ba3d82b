// Requests to an app in the same process, with the limits of requests to any API.

import { unlessAborted } from '../../async/abort.js';
import { type SafeFetch, SafeFetchError } from '../../oauth/fetch/safe-fetch.js';

/** Replies to a request. */
export type HandleRequest = (request: Request) => Response | Promise<Response>;

/** A handler of `node:http`: an Express app, or the router of a Fastify app. */
export type NodeListener = (request: never, response: never) => unknown;

/** A fetch that gives each request to a function. The app is not trusted to reply, to end its reply, or to notice that a call has ended. */
export function inProcessFetch(handle: HandleRequest): SafeFetch {
  return async function inProcess(url, init = {}) {
    const { method = 'GET', headers, cookie, body, timeoutMs = 10_000, maxBytes = 1024 * 1024 } = init;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    const fields = new Headers(headers as HeadersInit | undefined);
    if (cookie !== undefined) fields.set('cookie', cookie);
    try {
      const request = new Request(url, { method, headers: fields, body: body ?? null, signal });
      const response = await unlessAborted(Promise.resolve(request).then(handle), signal);
      const bytes = await readBytes(response, { maxBytes, signal });
      const { status, statusText } = response;
      const isEmpty = bytes.length === 0 || status === 204 || status === 304;
      return new Response(isEmpty ? null : bytes, { status, statusText, headers: response.headers });
    } catch (error) {
      init.signal?.throwIfAborted();
      if (error instanceof SafeFetchError) throw error;
      if (timeout.aborted)
        throw new SafeFetchError('timeout', `The app did not reply within ${timeoutMs} ms.`);
      throw new SafeFetchError('bad_reply', 'The app failed before it replied.', { cause: error });
    }
  };
}

async function readBytes(
  { body }: Response,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  try {
    while (reader !== undefined) {
      const { done, value } = await unlessAborted(reader.read(), signal);
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes)
        throw new SafeFetchError('too_large', `The app's reply has more than ${maxBytes} bytes.`);
      chunks.push(value);
    }
  } catch (error) {
    // The app must learn that nobody reads its reply any more, but need not take notice.
    void reader?.cancel(error).catch(() => undefined);
    throw error;
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
