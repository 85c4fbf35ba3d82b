// Rates: how they are written, and what they mean.

/**
 * A rate: `'100/min'`, `'5/s'`, `'1000/h'`, `'20000/day'`, or its parts. A caller may use the whole limit at once. From then on,
 * it grows back evenly: with `'100/min'`, one call every 600 ms.
 */
export type Rate = string | RateParts;

/** The parts of a rate. */
type RateParts = {
  /** The number of calls. */
  readonly limit: number;
  /** The time in which they may be made, in milliseconds. */
  readonly perMs: number;
  /** The number of calls that may be made at once. Default: `limit`. In a time of `perMs`, there are never more than `limit + burst - 1`. */
  readonly burst?: number | undefined;
};

/** A rate as it is computed with. */
export interface ReadRate {
  /** The time in which one call grows back. */
  readonly everyMs: number;
  /** The time that calls may be ahead of the rate. */
  readonly toleranceMs: number;
  /** The rate as a person writes it. */
  readonly display: string;
}

const units: Readonly<Record<string, number>> = {
  s: 1000,
  sec: 1000,
  second: 1000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};

const WRITTEN = /^(\d{1,9})\/([a-z]{1,6})$/;

/** Reads a rate. Throws a TypeError that says how rates are written. */
export function readRate(rate: Rate, option: string): ReadRate {
  const { limit, perMs, burst = limit } = typeof rate === 'string' ? parse(rate, option) : rate;
  const isRight = isCount(limit) && isCount(burst) && Number.isFinite(perMs) && perMs > 0;
  if (!isRight) throw notARate(rate, option);
  const everyMs = perMs / limit;
  const display = typeof rate === 'string' ? rate : `${limit} in ${perMs} ms`;
  return { everyMs, toleranceMs: (burst - 1) * everyMs, display };
}

function parse(rate: string, option: string): RateParts {
  const [, limit, unit = ''] = WRITTEN.exec(rate) ?? [];
  const perMs = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (limit === undefined || perMs === undefined) throw notARate(rate, option);
  return { limit: Number(limit), perMs };
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function notARate(rate: unknown, option: string): TypeError {
  const display = typeof rate === 'string' ? JSON.stringify(rate.slice(0, 40)) : 'this value';
  return new TypeError(
    `${option} must be a rate such as "100/min" (s, min, h, day) or { limit: 100, perMs: 60_000 }, not ${display}.`,
  );
}
