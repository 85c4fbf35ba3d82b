// The size of messages between windows. They arrive as objects, so their size has to be counted.

/** The largest message: its characters, keys included, and its values together. */
export const MAX_MESSAGE_SIZE = 4_000_000;

/**
 * Whether a message is larger than the limit, or has something in it that JSON does not have. The count stops at the limit, which also ends
 * it for a value that contains itself.
 */
export function isUnfit(message: unknown): boolean {
  const open: unknown[] = [message];
  let size = 0;
  while (open.length > 0 && size <= MAX_MESSAGE_SIZE) {
    const value = open.pop();
    size += typeof value === 'string' ? value.length : 1;
    if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return true;
    if (typeof value !== 'object' || value === null) continue;
    // The keys of a large array or buffer would take longer than everything else.
    if (Array.isArray(value) ? value.length > MAX_MESSAGE_SIZE : !isPlain(value)) return true;
    for (const key of Object.keys(value)) {
      size += key.length;
      open.push((value as Record<string, unknown>)[key]);
      if (size > MAX_MESSAGE_SIZE || open.length > MAX_MESSAGE_SIZE) return true;
    }
  }
  return size > MAX_MESSAGE_SIZE;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
