import type { HttpReply } from './carrier.js';

const SHORT_BYTES = 16_384;

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
  if (short) await reply.text(SHORT_BYTES).catch(() => {});
  else reply.cancel();
}
