const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads a time such as `500ms`, `30s`, `5m`, `2h` or `1d`. Returns milliseconds; undefined if it is not one, or is 0. */
export function readDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,7})(ms|s|m|h|d)$/.exec(text) ?? [];
  return number === undefined || Number(number) === 0
    ? undefined
    : Number(number) * UNITS[unit as keyof typeof UNITS];
}
