// Checks of options that are numbers.

/** The longest time that a timer can wait; a timer that is set to more fires at once. */
const LONGEST_TIMER_MS = 0x7fffffff;

/** Milliseconds for a timer, limited to the 24 days that a timer can wait. Throws a RangeError if the value is not a time. */
export function timerMs(name: string, value: number): number {
  if (typeof value !== 'number' || !(value >= 0))
    throw new RangeError(`"${name}" must be a number of milliseconds, 0 or more.`);
  return Math.min(value, LONGEST_TIMER_MS);
}

/** Throws a RangeError if one of these options is not a whole number, 1 or more. Undefined options are skipped. */
export function checkCounts(where: string, counts: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(counts)) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw new RangeError(`"${where}.${name}" must be a whole number, 1 or more.`);
  }
}
