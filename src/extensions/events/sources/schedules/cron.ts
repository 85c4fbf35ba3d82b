// Reads the five fields of cron, and finds the moments that they name in a time zone.

import { quote } from '../../../../protocol/encoding/shorten.js';
import { DAY_MS, type TimesOfDay, zoneOf } from './zone.js';

/** The moments of a schedule. */
export interface Ticks {
  /** The first moment after a time; undefined if there is none in the next decades. */
  readonly after: (time: number) => number | undefined;
  /** The last moment at a time or before it; undefined if there is none in the last decades. */
  readonly until: (time: number) => number | undefined;
}

/** The moments that a line of cron names: times, on some days. */
interface CronLine extends TimesOfDay {
  /** Whether there are moments on a day, by its number since 1970. */
  readonly hasDay: (day: number) => boolean;
}

/** The 29th of February is on each day of the week within 40 years, although 2100 has none. */
const MAX_DAYS = 40 * 366;

/** Finds the moments of a line of cron. Throws a TypeError that says what is wrong. */
export function cronTicks(text: string, timeZone: string): Ticks {
  const zone = zoneOf(timeZone);
  const line = readLine(text);
  if (dayFrom(Math.floor(Date.now() / DAY_MS), 1) === undefined)
    throw new TypeError(`"schedule.cron" names a day that never comes: ${quote(text, 80)}`);

  /** The first day with moments, forward or backward. */
  function dayFrom(first: number, step: 1 | -1): number | undefined {
    for (let n = 0; n < MAX_DAYS; n++) if (line.hasDay(first + n * step)) return first + n * step;
    return undefined;
  }

  // A time that is skipped is told later, perhaps on the day after its own. So a neighbour may have the moment that is looked for.
  function momentsAround(day: number | undefined): readonly number[] {
    if (day === undefined) return [];
    return [day - 1, day, day + 1]
      .flatMap((each) => (line.hasDay(each) ? zone.momentsOn(each, line) : []))
      .sort((a, b) => a - b);
  }

  return {
    after(time) {
      const today = zone.dayOf(time);
      const isLater = (moment: number): boolean => moment > time;
      return momentsAround(today).find(isLater) ?? momentsAround(dayFrom(today + 1, 1)).find(isLater);
    },
    until(time) {
      const today = zone.dayOf(time);
      const isNow = (moment: number): boolean => moment <= time;
      return momentsAround(today).findLast(isNow) ?? momentsAround(dayFrom(today - 1, -1)).findLast(isNow);
    },
  };
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names for the numbers from `min` on. */
  readonly names?: readonly string[];
}

const FIELDS = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  {
    ...{ name: 'month', min: 1, max: 12 },
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  // Sunday is 0 or 7.
  { name: 'day of the week', min: 0, max: 7, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
] as const satisfies readonly Field[];

const MAX_LENGTH = 256;

function readLine(text: string): CronLine {
  const parts = text.length > MAX_LENGTH ? [] : text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length)
    throw new TypeError(
      `"schedule.cron" must have five fields, such as "0 9 * * 1": minute, hour, day of the month, month and day of the week, not ${quote(text, 80)}`,
    );
  const [minutes, hours, dates, months, weekdays] = FIELDS.map((field, at) =>
    readField(parts[at] as string, field),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  if (weekdays.has(7)) weekdays.add(0);
  const [anyDate, anyWeekday] = [parts[2], parts[4]].map((part) => (part as string).startsWith('*'));
  return {
    times: [...hours].flatMap((hour) => [...minutes].map((minute) => hour * 60 + minute)),
    isHourly: hours.size === 24,
    hasDay(day) {
      const date = new Date(day * DAY_MS);
      if (!months.has(date.getUTCMonth() + 1)) return false;
      const [fitsDate, fitsWeekday] = [dates.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
      // If both are restricted, one of them has to fit, as it always was in cron.
      return anyDate || anyWeekday ? fitsDate && fitsWeekday : fitsDate || fitsWeekday;
    },
  };
}

const PART = /^(?:(\*)|(\d{1,2}|[A-Z]{3})(?:-(\d{1,2}|[A-Z]{3}))?)(?:\/(\d{1,2}))?$/;

function readField(text: string, field: Field): Set<number> {
  const numbers = new Set<number>();
  for (const part of text.toUpperCase().split(',')) {
    const [found, star, low = '', high = '', step = '1'] = PART.exec(part) ?? [];
    const first = star ? field.min : numberOf(low, field);
    // One number with a step goes on to the end: 5/15 is 5, 20, 35, 50.
    const isOne = !star && high === '' && !part.includes('/');
    const last = isOne ? first : high === '' ? lastOf(field) : numberOf(high, field);
    if (found === undefined || !(first <= last) || Number(step) === 0) throw wrongField(part, field);
    for (let number = first; number <= last; number += Number(step)) numbers.add(number);
  }
  return numbers;
}

function lastOf({ min, max }: Field): number {
  return min === 0 && max === 7 ? 6 : max;
}

function numberOf(text: string, { min, max, names = [] }: Field): number {
  const number = names.includes(text) ? names.indexOf(text) + min : text === '' ? Number.NaN : Number(text);
  return number >= min && number <= max ? number : Number.NaN;
}

function wrongField(part: string, { name, min, max, names }: Field): TypeError {
  const or = names === undefined ? '' : ` or ${names[0]} to ${names.at(-1)}`;
  return new TypeError(
    `"schedule.cron" has ${quote(part, 40)} for the ${name}, which must be *, a number from ${min} to ${max}${or}, a range such as 1-5, a list of these, or one of them with a step such as */15`,
  );
}
