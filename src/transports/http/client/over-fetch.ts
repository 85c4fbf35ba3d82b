import type { HttpCarrier, HttpReply } from './carrier.js';

/** Carries HTTP over a `fetch`: the runtime's, or one that the user passes. It manages its own connections. */
export function overFetch(fetch: typeof globalThis.fetch = globalThis.fetch): HttpCarrier {
  return {
    async send({ method, url, commonHeaders, headers: requestHeaders, body, until }) {
      const headers = { ...commonHeaders, ...requestHeaders };
      const init = { method, headers, signal: until.signal, redirect: 'manual' as const };
      const response = await fetch(url, body === undefined ? init : { ...init, body });
      return toReply(response, response.url || url.href);
    },
    // Open requests are aborted by their callers.
    close() {},
  };
}

function toReply(response: Response, url: string): HttpReply {
  const { status, type, headers, body } = response;
  let chunks: ReadableStreamDefaultReader<Uint8Array> | undefined;

  async function text(maxBytes: number): Promise<string | undefined> {
    const length = headers.get('content-length');
    if (length !== null && Number(length) > maxBytes) {
      cancel();
      return undefined;
    }
    // The length is that of the body as it was sent, and across origins it is not shown whether that was compressed.
    const isPlain = type !== 'cors' && !headers.has('content-encoding');
    if (body === null || (length !== null && isPlain)) return response.text();
    return readLimited(maxBytes);
  }

  async function readLimited(maxBytes: number): Promise<string | undefined> {
    const decoder = new TextDecoder();
    let text = '';
    let bytes = 0;
    for (;;) {
      const value = await read();
      if (value === undefined) return text + decoder.decode();
      bytes += value.length;
      if (bytes > maxBytes) {
        cancel();
        return undefined;
      }
      text += decoder.decode(value, { stream: true });
    }
  }

  async function read(): Promise<Uint8Array | undefined> {
    chunks ??= (body as ReadableStream<Uint8Array> | null)?.getReader();
    return (await chunks?.read())?.value;
  }

  function cancel(): void {
    (chunks ?? body)?.cancel().catch(() => {});
  }

  return {
    status,
    url,
    opaque: type === 'opaqueredirect',
    hidesHeaders: type === 'cors',
    headerNames: () => [...headers.keys()],
    header: (name) => headers.get(name) ?? undefined,
    text,
    read,
    cancel,
  };
}
