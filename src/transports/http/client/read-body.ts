import type { HttpReply } from './carrier.js';

const SHORT_BYTES = 16_384;
/** How long the body of a refusal may take. */
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

/** Releases a body that nobody reads. A short one is read, so that its connection can be used again. */
export async function discard(reply: HttpReply): Promise<void> {
  const short = Number(reply.header('content-length') ?? Number.NaN) <= SHORT_BYTES;
  if (short) await textInTime(reply, SHORT_BYTES);
  else reply.cancel();
}

/** The body of a reply whose status says enough: what does not come soon, breaks off, or is too large is left. */
export async function textInTime(reply: HttpReply, maxBytes: number): Promise<string> {
  const timer = setTimeout(() => reply.cancel(), SOON_MS);
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    // Piece by piece: a body that is read as a whole cannot be cancelled everywhere.
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
