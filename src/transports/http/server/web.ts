import { BodyTooLarge, type HeaderFields, type Incoming, type Outlet } from './incoming.js';

/** The context that runtimes and frameworks pass beside a request. */
export interface RequestContext {
  /** Keeps the runtime alive until the work is done, after the reply was sent. Workers have it. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
  /** The parameters of the path, which Next.js passes to a route. They are not used. */
  readonly params?: unknown;
}

/** A web `Request` as an `Incoming`, and its `Response`, which resolves as soon as the reply begins. */
export function webIncoming(
  request: Request,
  context?: RequestContext,
): {
  readonly incoming: Incoming;
  readonly response: Promise<Response>;
} {
  const url = new URL(request.url);
  const goneListeners = new Set<() => void>();
  const reportGone = (): void => {
    for (const listener of [...goneListeners]) listener();
    goneListeners.clear();
  };
  request.signal?.addEventListener('abort', reportGone, { once: true });
  let respond!: (response: Response) => void;
  const response = new Promise<Response>((resolve) => {
    respond = (response) => {
      resolve(response);
    };
  });
  const incoming: Incoming = {
    method: request.method,
    path: url.pathname,
    query: url.search,
    secure: url.protocol === 'https:',
    local: undefined,
    remoteAddress: undefined,
    raw: request,
    auth: undefined,
    protection: undefined,
    // A Request that a program made has no Host header, but its URL has the host.
    header: (name) => request.headers.get(name) ?? (name === 'host' ? url.host : undefined),
    headerFields: () => request.headers,
    read: ({ maxBytes }, receiver) =>
      void readText(request, maxBytes).then(
        (text) => receiver.receiveBody(text),
        (error) => receiver.fail(error),
      ),
    reply(status, headers, body) {
      goneListeners.clear();
      respond(new Response(body ?? null, { status, headers: { ...headers } }));
    },
    async respond(response) {
      goneListeners.clear();
      respond(response);
    },
    stream(status, headers) {
      const { outlet, body } = openStream(reportGone, () => goneListeners.clear());
      respond(
        new Response(body, { status, headers: { ...headers } as HeaderFields as Record<string, string> }),
      );
      return outlet;
    },
    // Called as a method: Workers reject it without its context.
    waitUntil: typeof context?.waitUntil === 'function' ? (work) => context.waitUntil?.(work) : undefined,
    onGone: (listener) => goneListeners.add(listener),
  };
  return { incoming, response };
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const { headers } = request;
  const declared = headers.get('content-length');
  if (Number(declared ?? 0) > maxBytes) throw new BodyTooLarge(maxBytes);
  if (request.body === null) return '';
  // A body ends at the length that HTTP declares. Bun reads a body as a whole for much less than in parts. Encoded, it may be longer.
  const isWhole = declared !== null && !headers.has('transfer-encoding') && !headers.has('content-encoding');
  return isWhole ? checkBytes(await request.text(), maxBytes) : readParts(request.body, maxBytes);
}

/** Refuses a body that is larger than its framing declared: a `Request` that a program made may have any headers. */
function checkBytes(text: string, maxBytes: number): string {
  // A UTF-16 unit has at most three bytes in UTF-8.
  if (text.length * 3 > maxBytes && new TextEncoder().encode(text).byteLength > maxBytes)
    throw new BodyTooLarge(maxBytes);
  return text;
}

async function readParts(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      void reader.cancel().catch(() => undefined);
      throw new BodyTooLarge(maxBytes);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function openStream(
  onCancel: () => void,
  onEnd: () => void,
): { readonly outlet: Outlet; readonly body: ReadableStream<Uint8Array> } {
  const encoder = new TextEncoder();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let isOpen = true;
  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      cancel() {
        isOpen = false;
        onCancel();
      },
    },
    { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  const outlet: Outlet = {
    write(text) {
      if (isOpen) controller.enqueue(encoder.encode(text));
    },
    end() {
      if (!isOpen) return;
      isOpen = false;
      onEnd();
      controller.close();
    },
    destroy() {
      if (!isOpen) return;
      isOpen = false;
      controller.error(new Error('The client does not read its stream'));
    },
    buffered() {
      return isOpen ? -(controller.desiredSize ?? 0) : 0;
    },
  };
  return { outlet, body };
}
