import type { HttpReply } from './carrier.js';

// Small helpers for replies: status, type, and bodies that are not a response.

const SHORT_BYTES = 16_384;
/** The time for the body of a refusal to arrive. */
const SOON_MS = 1000;

export function isOk({ status }: HttpReply): boolean {
  return status >= 200 && status < 300;
}

/** The type without its parameters, in lower case. */
export function mediaType(reply: HttpReply): string {
  const type = reply.header('content-type') ?? '';
  if (type === 'application/json') return type;
  return type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Discards a body. A short one is read, so that its connection can be reused. */
export async function discard(reply: HttpReply): Promise<void> {
  const isShort = Number(reply.header('content-length') ?? Number.NaN) <= SHORT_BYTES;
  if (isShort) await readTextSoon(reply, SHORT_BYTES);
  else reply.cancel();
}

/** Reads a body that is not essential: one that is slow is cut off, and one that breaks off or is too large counts as empty. */
export async function readTextSoon(reply: HttpReply, maxBytes: number): Promise<string> {
  const timer = setTimeout(() => reply.cancel(), SOON_MS);
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    // Read in parts: on some runtimes, reading a whole body cannot be cancelled.
    for (let chunk = await reply.read(); chunk !== undefined; chunk = await reply.read()) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        reply.cancel();
        return '';
      }
      text += decoder.decode(chunk, { stream: true });
    }
    return text;
  } catch {
    return '';
  } finally {
    clearTimeout(timer);
  }
}
