/** The settings of calls that are repeated with the same idempotency key. */
export interface IdempotencyOptions {
  /** The time for which an outcome is kept; after that, a call with the same key runs again. Default: 10 minutes. */
  readonly windowMs?: number;
}

/** The window of a tool: its own setting, or else the server's; undefined if neither enables keys. */
export function windowOf(
  own: boolean | IdempotencyOptions | undefined,
  fallback: boolean | IdempotencyOptions | undefined,
): number | undefined {
  const setting = own ?? fallback ?? false;
  if (setting === false) return undefined;
  const windowMs = (setting === true ? undefined : setting.windowMs) ?? 600_000;
  if (!Number.isSafeInteger(windowMs) || windowMs < 1)
    throw new TypeError('"idempotency.windowMs" must be a whole number, 1 or more');
  return windowMs;
}
