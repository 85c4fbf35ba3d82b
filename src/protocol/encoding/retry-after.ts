/** Reads the header `Retry-After` (RFC 9110, 10.2.3): seconds, or a date. Returns milliseconds from now; undefined if it says neither. */
export function readRetryAfter(value: string | undefined, now: () => number = Date.now): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now());
}
