import { createHash } from 'node:crypto';

const LENGTH = 16;

/** A short digest of a value, by the bytes that would be sent: also the order of fields counts. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('hex')
    .slice(0, LENGTH);
}
