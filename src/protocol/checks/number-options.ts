/** No timer can wait longer than this; one that is set to more fires at once. */
const LONGEST_TIMER_MS = 0x7fffffff;

/** Milliseconds for a timer: at most what a timer can wait, which is 24 days. Throws a RangeError where it is not a time. */
export function timerMs(name: string, value: number): number {
  if (typeof value !== 'number' || !(value >= 0))
    throw new RangeError(`"${name}" must be a number of milliseconds, 0 or more.`);
  return Math.min(value, LONGEST_TIMER_MS);
}

/** Throws a RangeError where one of these options is not a whole number, 1 or more. Those that are not given are left out. */
export function checkCounts(where: string, counts: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(counts)) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw new RangeError(`"${where}.${name}" must be a whole number, 1 or more.`);
  }
}
