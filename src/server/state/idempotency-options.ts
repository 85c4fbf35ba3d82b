import { fillDefaults } from '../../protocol/checks/options.js';

/** The settings of calls that are repeated with the same idempotency key. */
export interface IdempotencyOptions {
  /** The time for which an outcome is kept; after that, a call with the same key runs again. Default: 10 minutes. */
  readonly windowMs?: number;
}

/** The table of `IdempotencyOptions`. */
export const idempotencyTable = { windowMs: { is: 'count', default: 600_000 } } as const;

/** The window of a tool: its own setting, or else the server's; undefined if neither enables keys. */
export function windowOf(
  own: boolean | IdempotencyOptions | undefined,
  fallback: boolean | IdempotencyOptions | undefined,
): number | undefined {
  const setting = own ?? fallback ?? false;
  if (setting === false) return undefined;
  return fillDefaults(setting === true ? {} : setting, idempotencyTable).windowMs;
}
