// Errors and bodies that behave as those of a real `fetch`, for fetches without a network.

import { unlessAborted } from '../../async/abort.js';

/** The error that `fetch` rejects with when there is no reply. */
export function networkError(): TypeError {
  return new TypeError('fetch failed: a fault of the fault plan');
}

/**
 * A body from strings or bytes. When the signal aborts, the body fails with its reason, as the body of a `fetch` does. `onCancel`
 * runs then, and when the reader cancels.
 */
export function bodyOf(
  texts: (signal: AbortSignal) => AsyncGenerator<string | Uint8Array>,
  signal: AbortSignal,
  onCancel: (reason: unknown) => void = () => undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const bodyEnd = new AbortController();
  const generator = texts(bodyEnd.signal);
  const leave = (reason: unknown): void => {
    signal.removeEventListener('abort', stop);
    bodyEnd.abort(reason);
    onCancel(reason);
  };
  const stop = (): void => leave(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await unlessAborted(generator.next(), bodyEnd.signal);
        if (!done) {
          controller.enqueue(typeof value === 'string' ? encoder.encode(value) : new Uint8Array(value));
          return;
        }
        signal.removeEventListener('abort', stop);
        controller.close();
      } catch (error) {
        signal.removeEventListener('abort', stop);
        controller.error(error);
      }
    },
    cancel: leave,
  });
}

/** The same reply with another body. */
export function withBody(
  response: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  url: string = response.url,
): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  headers.delete('content-encoding');
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
}
