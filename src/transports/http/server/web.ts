import { BodyTooLarge, type HeaderFields, type Incoming, type Outlet } from './incoming.js';

/** The context that Workers and similar runtimes pass beside a request. */
export interface RequestContext {
  /** Keeps the runtime alive until the work is done, after the request was answered. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
}

/** A web `Request` as Incoming; `answered` gives the `Response` as soon as one is begun. */
export function webIncoming(
  request: Request,
  context?: RequestContext,
): {
  readonly incoming: Incoming;
  readonly answered: Promise<Response>;
} {
  const url = new URL(request.url);
  const gone = new Set<() => void>();
  const leave = (): void => {
    for (const listener of [...gone]) listener();
    gone.clear();
  };
  request.signal?.addEventListener('abort', leave, { once: true });
  let answer!: (response: Response) => void;
  const answered = new Promise<Response>((resolve) => {
    answer = (response) => {
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
    // A Request made by hand has no Host header; its URL says the same.
    header: (name) => request.headers.get(name) ?? (name === 'host' ? url.host : undefined),
    read: ({ maxBytes }, receiver) =>
      void readText(request, maxBytes).then(
        (text) => receiver.receiveBody(text),
        (error) => receiver.fail(error),
      ),
    reply(status, headers, body) {
      gone.clear();
      answer(new Response(body ?? null, { status, headers: { ...headers } }));
    },
    stream(status, headers) {
      const { outlet, body } = openStream(leave, () => gone.clear());
      answer(
        new Response(body, { status, headers: { ...headers } as HeaderFields as Record<string, string> }),
      );
      return outlet;
    },
    // Not taken off the context: Workers refuse that.
    waitUntil: typeof context?.waitUntil === 'function' ? (work) => context.waitUntil?.(work) : undefined,
    onGone: (listener) => gone.add(listener),
  };
  return { incoming, answered };
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > maxBytes) throw new BodyTooLarge(maxBytes);
  if (request.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader = request.body.getReader();
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
  let open = true;
  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      cancel() {
        open = false;
        onCancel();
      },
    },
    { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  const outlet: Outlet = {
    write(text) {
      if (open) controller.enqueue(encoder.encode(text));
    },
    end() {
      if (!open) return;
      open = false;
      onEnd();
      controller.close();
    },
    destroy() {
      if (!open) return;
      open = false;
      controller.error(new Error('The client does not read its stream'));
    },
    buffered() {
      return open ? -(controller.desiredSize ?? 0) : 0;
    },
  };
  return { outlet, body };
}
