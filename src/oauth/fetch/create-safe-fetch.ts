import { onAbort, unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import { displayUrl } from '../../protocol/secrets/display-url.js';
import { type CheckedUrl, checkUrl, isLoopbackUrl, type UrlPolicy } from './check-url.js';
import type { HopReply, HopRequest, SendHop } from './hop.js';
import { readPrivateHosts } from './private-hosts.js';
import { headersOf, withoutCredentials } from './request-headers.js';
import { type SafeFetch, SafeFetchError, type SafeFetchInit } from './safe-fetch.js';

/** The options of a hardened fetch. */
export interface SafeFetchOptions {
  /**
   * Hosts that may be on a private network or on this computer. **Dangerous by choice**: every server that a user connects to can
   * then make this process send requests to these hosts. Each entry is one exact host name, for https on any port, or one exact
   * origin, which may begin with `http://`. Default: none.
   */
  readonly privateHosts?: readonly string[] | undefined;
}

export interface SafeFetchParts extends SafeFetchOptions {
  readonly send: SendHop;
  /** Undefined where the runtime sets its own, as browsers do. */
  readonly userAgent: string | undefined;
}

const DEFAULT_MAX_BYTES = 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_REDIRECTS = 3;
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];

/** Makes a hardened fetch from a runtime's HTTP client: the rules are here, and `send` only sends. */
export function createSafeFetch(parts: SafeFetchParts): SafeFetch {
  const { send, userAgent } = parts;
  const privateHosts = readPrivateHosts(parts.privateHosts);
  return async function safeFetch(address, init = {}): Promise<Response> {
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = init;
    const policy = { loopback: init.loopback === 'allow', privateHosts };
    const first = checkUrl(address, policy);
    const request = requestOf(first, init, userAgent);
    signal?.throwIfAborted();
    const deadline = {
      ms: timeoutMs,
      signal: signal ?? undefined,
      reason: () =>
        new SafeFetchError(
          'timeout',
          `${displayUrl(first.url)} took more than ${timeoutMs / 1000} s to reply.`,
        ),
    };
    return await withDeadline(deadline, (until) => {
      const exchange = async (): Promise<Response> => {
        const { reply, url } = await sendAndFollow({ ...request, signal: until }, { send, init, policy });
        return await readReply(reply, { url, maxBytes: init.maxBytes ?? DEFAULT_MAX_BYTES, signal: until });
      };
      // The limit also holds for a resolver or a stream that ignores its signal.
      return unlessAborted(exchange(), until);
    });
  };
}

function requestOf(
  checked: CheckedUrl,
  init: SafeFetchInit,
  userAgent: string | undefined,
): Omit<HopRequest, 'signal'> {
  const { method = 'GET', body } = init;
  const bytes =
    body === undefined || body === null || body instanceof Uint8Array
      ? (body ?? undefined)
      : new TextEncoder().encode(String(body));
  return {
    ...checked,
    method: method.toUpperCase(),
    headers: headersOf(init, userAgent),
    body: bytes,
  };
}

interface Following {
  readonly send: SendHop;
  readonly init: SafeFetchInit;
  readonly policy: UrlPolicy;
}

async function sendAndFollow(
  first: HopRequest,
  { send, init, policy }: Following,
): Promise<{ reply: HopReply; url: URL }> {
  const { redirect = 'follow', maxRedirects = DEFAULT_MAX_REDIRECTS } = init;
  let request = first;
  for (let redirects = 0; ; redirects++) {
    const reply = await send(request);
    const { url, method } = request;
    if (!redirectStatuses.includes(reply.status) || redirect === 'manual') return { reply, url };
    // The body of a redirect is not read.
    reply.close();
    const refuse = (why: string): SafeFetchError =>
      new SafeFetchError('bad_redirect', `${displayUrl(url)} redirects (${reply.status}). ${why}`);
    if (redirect === 'error') throw refuse('This address may not redirect.');
    // A POST carries a code or a secret, which must not be sent again to an address that a reply chooses.
    if (method !== 'GET' && method !== 'HEAD') throw refuse(`A ${method} is not sent to another address.`);
    if (redirects >= maxRedirects) throw refuse(`That is more than ${maxRedirects} redirects in a row.`);
    const location = reply.headers.get('location');
    if (location === null || !URL.canParse(location, url.href)) throw refuse('It does not say where to.');
    // A server elsewhere must not lead to this computer, even if the user chose a server on this computer.
    const rules = { ...policy, loopback: policy.loopback && isLoopbackUrl(url) };
    const next = checkTarget(new URL(location, url), rules, refuse);
    if (url.protocol === 'https:' && next.url.protocol === 'http:')
      throw refuse(`Its target ${displayUrl(next.url)} uses http.`);
    const headers = next.url.origin === url.origin ? request.headers : withoutCredentials(request.headers);
    request = { ...request, ...next, headers };
  }
}

function checkTarget(target: URL, policy: UrlPolicy, refuse: (why: string) => SafeFetchError): CheckedUrl {
  try {
    return checkUrl(target, policy);
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error;
    throw new SafeFetchError(error.code, refuse(error.message).message, { cause: error });
  }
}

interface Reading {
  readonly url: URL;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

async function readReply(reply: HopReply, { url, maxBytes, signal }: Reading): Promise<Response> {
  const { status, headers } = reply;
  const forget = onAbort(signal, () => reply.close());
  try {
    if (status < 200 || status > 599)
      throw new SafeFetchError('bad_reply', `${displayUrl(url)} replied with the status ${status}.`);
    const body = await readBody(reply, { url, maxBytes });
    const mayHaveBody = status !== 204 && status !== 205 && status !== 304;
    return new Response(mayHaveBody ? body : null, { status, headers });
  } finally {
    forget();
    reply.close();
  }
}

async function readBody(
  { status, headers, chunks }: HopReply,
  { url, maxBytes }: Omit<Reading, 'signal'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = (): SafeFetchError =>
    new SafeFetchError('too_large', `${displayUrl(url)} replied with more than ${maxBytes} bytes.`, {
      status,
    });
  if (Number(headers.get('content-length')) > maxBytes) throw tooLarge();
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLarge();
    read.push(chunk);
  }
  return join(read, length);
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let position = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, position);
    position += chunk.byteLength;
  }
  return bytes;
}
