// Ids, times and durations that are new each time: they make no difference between two results.

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const TIME = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g;
const TIME_NAME = /(?:At|_at|[tT]ime|[tT]imestamp|[dD]ate|[eE]xpires|[eE]xpiry)$/;
const DURATION_NAME = /(?:^ms|Ms|_ms|[dD]uration|[eE]lapsed|[lL]atency|[tT]ook)$/;
/** September 2001, in seconds: smaller numbers are not times. */
const FIRST_TIME = 1e9;

/** Text with ids and times that are new each time replaced. */
export function steady(text: string): string {
  return text.replace(UUID, '<id>').replace(TIME, '<time>');
}

/** Whether a number is a time. `path` ends with the name of its field. */
export function isTime(value: unknown, path: string): boolean {
  return typeof value === 'number' && value >= FIRST_TIME && TIME_NAME.test(path);
}

/** Whether a number is the time that something took. `path` ends with the name of its field. */
export function isDuration(value: unknown, path: string): boolean {
  return typeof value === 'number' && DURATION_NAME.test(path);
}
