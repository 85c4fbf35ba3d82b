// The moments of a schedule, as times in milliseconds since 1970.

import { readDuration } from '../../../../protocol/checks/duration.js';
import { quote } from '../../../../protocol/encoding/shorten.js';
import type { EventSchedule } from '../../../../server/define/schedule-options.js';
import { cronTicks, type Ticks } from './cron.js';

/** Less than a second is not a schedule, and more than a year is a mistake. */
const EVERY_MS = { min: 1000, max: 366 * 86_400_000 } as const;

/** Reads the moments of a schedule. Throws a TypeError that says what is wrong. */
export function ticksOf({ every, cron, timeZone }: EventSchedule): Ticks {
  if ((every === undefined) === (cron === undefined))
    throw new TypeError('"schedule" must have "every" or "cron", and not both');
  if (cron !== undefined) return cronTicks(cron, timeZone ?? 'UTC');
  if (timeZone !== undefined)
    throw new TypeError('"schedule.timeZone" is for "cron": "every" counts from 1970');
  const ms = readDuration(every as string);
  if (ms === undefined || ms < EVERY_MS.min || ms > EVERY_MS.max)
    throw new TypeError(
      `"schedule.every" must be a time from 1s to 366d, such as 30s, 5m, 2h or 1d, not ${quote(every as string, 40)}`,
    );
  const until = (time: number): number => Math.floor(time / ms) * ms;
  return { until, after: (time) => until(time) + ms };
}
