// The times of a day in a time zone, as moments since 1970. Offsets come from `Intl`, which every runtime has.

import { quote } from '../../../../protocol/encoding/shorten.js';

/** Times that repeat on days. */
export interface TimesOfDay {
  /** The minutes since midnight. */
  readonly times: readonly number[];
  /** Whether the hour does not matter: then the moments follow the clock, also in an hour that comes twice. */
  readonly isHourly: boolean;
}

/** A time zone. */
export interface Zone {
  /** The day of a moment, by its number since 1970. */
  readonly dayOf: (moment: number) => number;
  /**
   * The moments of times on a day. A time that is skipped is as long after midnight as it would be, unless the hour does not matter. A time
   * that comes twice is its first one, or both if the hour does not matter.
   */
  readonly momentsOn: (day: number, times: TimesOfDay) => readonly number[];
}

export const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Finds a time zone by its name. Throws a TypeError if there is none. */
export function zoneOf(name: string): Zone {
  const offsetAt = offsetsOf(name);
  return {
    dayOf: (moment) => Math.floor((moment + offsetAt(moment)) / DAY_MS),
    momentsOn(day, { times, isHourly }) {
      const midnight = day * DAY_MS;
      // No clock is further from UTC than 14 hours, so the day is between these two.
      const [before, after] = [offsetAt(midnight - DAY_MS), offsetAt(midnight + 2 * DAY_MS)];
      return times.flatMap((minute) => {
        const time = midnight + minute * MINUTE_MS;
        const [first, second] = [time - before, time - after];
        if (before === after) return [first];
        const found = [first, second].filter((moment) => moment + offsetAt(moment) === time);
        if (found.length === 0) return isHourly ? [] : [first];
        return isHourly ? found : found.slice(0, 1);
      });
    },
  };
}

/** Returns the function that finds the difference to UTC at a moment. */
function offsetsOf(timeZone: string): (moment: number) => number {
  if (timeZone === 'UTC') return () => 0;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, hourCycle: 'h23', era: 'short' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  } catch {
    throw new TypeError(
      `"schedule.timeZone" must be a time zone such as Europe/Berlin, not ${quote(timeZone, 80)}`,
    );
  }
  return (moment) => {
    const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const local = Date.UTC(
      ...([part('year'), part('month') - 1, part('day')] as const),
      ...([part('hour'), part('minute'), part('second')] as const),
    );
    return local - Math.floor(moment / 1000) * 1000;
  };
}
