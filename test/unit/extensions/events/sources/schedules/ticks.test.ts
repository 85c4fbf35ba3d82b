import { describe, expect, test } from 'vitest';
import { ticksOf } from '../../../../../../src/extensions/events/sources/schedules/ticks.js';
import type { EventSchedule } from '../../../../../../src/server/define/schedule-options.js';

// The moments of schedules, in time zones whose clocks are changed.

const run = () => undefined;
const ticks = (schedule: Partial<EventSchedule>) => ticksOf({ run, ...schedule });
const at = (text: string): number => Date.parse(text);
const iso = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString().replace(':00.000', '');

/** The moments after one time, up to another. */
function between(
  schedule: Partial<EventSchedule>,
  from: string,
  to: string,
): readonly (string | undefined)[] {
  const { after } = ticks(schedule);
  const found: (string | undefined)[] = [];
  for (let time = after(at(from)); time !== undefined && time <= at(to); time = after(time))
    found.push(iso(time));
  return found;
}

describe('every', () => {
  test('counts from 1970, so that all processes agree', () => {
    expect(between({ every: '5m' }, '2026-11-19T10:04:59Z', '2026-11-19T10:15:00Z')).toEqual([
      '2026-11-19T10:05Z',
      '2026-11-19T10:10Z',
      '2026-11-19T10:15Z',
    ]);
    expect(iso(ticks({ every: '1d' }).until(at('2026-11-19T23:59:59Z')))).toBe('2026-11-19T00:00Z');
    expect(ticks({ every: '90s' }).until(89_999)).toBe(0);
    expect(ticks({ every: '90s' }).until(90_000)).toBe(90_000);
    expect(ticks({ every: '90s' }).after(90_000)).toBe(180_000);
  });

  test('is refused with the times that are possible', () => {
    for (const every of ['5', '5 m', '', '0m', '999ms', '367d', 'PT5M', '-5m', '1.5h', '99999999s'])
      expect(() => ticks({ every })).toThrow(/"schedule.every" must be a time from 1s to 366d/);
    expect(() => ticks({ every: '5m', timeZone: 'Europe/Berlin' })).toThrow(/timeZone" is for "cron"/);
    expect(() => ticks({ every: '5m', cron: '* * * * *' })).toThrow(/not both/);
    expect(() => ticks({})).toThrow(/must have "every" or "cron"/);
  });
});

describe('cron', () => {
  test('names minutes, hours, dates, months and days of the week, alone, in lists, ranges and steps', () => {
    const first = (cron: string): string | undefined =>
      iso(ticks({ cron }).after(at('2026-11-19T10:07:30Z')));
    expect(first('* * * * *')).toBe('2026-11-19T10:08Z');
    expect(first('*/15 * * * *')).toBe('2026-11-19T10:15Z');
    expect(first('5/20 * * * *')).toBe('2026-11-19T10:25Z');
    expect(first('0 9 * * 1')).toBe('2026-11-23T09:00Z');
    expect(first('0 9 * * mon')).toBe('2026-11-23T09:00Z');
    expect(first('30 8,20 * * *')).toBe('2026-11-19T20:30Z');
    expect(first('0 0 1 JAN *')).toBe('2027-01-01T00:00Z');
    expect(first('0 12 * * 6-7')).toBe('2026-11-21T12:00Z');
    expect(first('0 12 * * 0')).toBe('2026-11-22T12:00Z');
    expect(first('0 12 * * 7')).toBe('2026-11-22T12:00Z');
    expect(first('0-10/5,30 11 * * *')).toBe('2026-11-19T11:00Z');
    expect(first('0 0 31 * *')).toBe('2026-12-31T00:00Z');
    expect(first('0 0 29 2 *')).toBe('2028-02-29T00:00Z');
    expect(first('  0   0 29  2 * ')).toBe('2028-02-29T00:00Z');
  });

  test('needs one of date and day of the week to fit if both are restricted, and both otherwise', () => {
    const days = (cron: string) => between({ cron }, '2026-11-01T00:00:00Z', '2026-11-30T23:59:00Z');
    expect(days('0 0 13 * 5')).toEqual(
      [6, 13, 20, 27].map((day) => `2026-11-${String(day).padStart(2, '0')}T00:00Z`),
    );
    expect(days('0 0 15 * 5')).toHaveLength(5);
    expect(days('0 0 */2 * 5')).toEqual(['2026-11-13T00:00Z', '2026-11-27T00:00Z']);
  });

  test('is refused with the field that is wrong', () => {
    const refusal = (cron: string): string => {
      try {
        ticks({ cron });
      } catch (error) {
        return (error as TypeError).message;
      }
      return 'accepted';
    };
    for (const cron of ['', '* * * *', '* * * * * *', '@daily', `${'1,'.repeat(200)}1 * * * *`])
      expect(refusal(cron)).toMatch(/must have five fields/);
    expect(refusal('60 * * * *')).toMatch(/"60" for the minute, which must be \*, a number from 0 to 59/);
    expect(refusal('* 24 * * *')).toMatch(/for the hour/);
    expect(refusal('* * 0 * *')).toMatch(/for the day of the month/);
    expect(refusal('* * * 13 *')).toMatch(/for the month.*or JAN to DEC/);
    expect(refusal('* * * * FRY')).toMatch(/"FRY" for the day of the week/);
    for (const field of ['5-1', '*/0', '1-', '-1', '1,,2', 'a', '?', 'L', '1#2', '1e1', '١'])
      expect(refusal(`${field} * * * *`)).toMatch(/for the minute/);
    expect(refusal('0 0 30 2 *')).toMatch(/names a day that never comes/);
    expect(() => ticks({ cron: '* * * * *', timeZone: 'Middle/Earth' })).toThrow(
      /must be a time zone such as/,
    );
  });

  test('follows the clock of its time zone when it is changed', () => {
    const timeZone = 'Europe/Berlin';
    expect(between({ cron: '0 9 * * *', timeZone }, '2026-03-27T12:00:00Z', '2026-03-30T12:00:00Z')).toEqual([
      '2026-03-28T08:00Z',
      '2026-03-29T07:00Z',
      '2026-03-30T07:00Z',
    ]);
  });

  test('tells a time that is skipped as long after midnight as it would be, once', () => {
    const spring = (cron: string) =>
      between({ cron, timeZone: 'Europe/Berlin' }, '2026-03-28T22:59:00Z', '2026-03-29T03:00:00Z');
    // Two o'clock becomes three o'clock.
    expect(spring('30 2 * * *')).toEqual(['2026-03-29T01:30Z']);
    expect(spring('0 2,3 * * *')).toEqual(['2026-03-29T01:00Z']);
    expect(spring('0 * * * *')).toEqual([
      '2026-03-28T23:00Z',
      '2026-03-29T00:00Z',
      '2026-03-29T01:00Z',
      '2026-03-29T02:00Z',
      '2026-03-29T03:00Z',
    ]);
  });

  test('tells a time that comes twice once, unless the hour does not matter', () => {
    const autumn = (cron: string) =>
      between({ cron, timeZone: 'Europe/Berlin' }, '2026-10-24T23:10:00Z', '2026-10-25T02:00:00Z');
    // Three o'clock becomes two o'clock.
    expect(autumn('30 2 * * *')).toEqual(['2026-10-25T00:30Z']);
    expect(autumn('*/30 * * * *')).toEqual([
      '2026-10-24T23:30Z',
      '2026-10-25T00:00Z',
      '2026-10-25T00:30Z',
      '2026-10-25T01:00Z',
      '2026-10-25T01:30Z',
      '2026-10-25T02:00Z',
    ]);
  });

  test('knows clocks that are changed by half an hour, and a day that was left out', () => {
    expect(
      between(
        { cron: '45 1 * * *', timeZone: 'Australia/Lord_Howe' },
        '2026-04-03T00:00:00Z',
        '2026-04-06T00:00:00Z',
      ),
    ).toEqual(['2026-04-03T14:45Z', '2026-04-04T14:45Z', '2026-04-05T15:15Z']);
    expect(
      between(
        { cron: '0 9 * * *', timeZone: 'Pacific/Apia' },
        '2011-12-28T10:00:00Z',
        '2012-01-01T00:00:00Z',
      ),
    ).toEqual(['2011-12-28T19:00Z', '2011-12-29T19:00Z', '2011-12-30T19:00Z', '2011-12-31T19:00Z']);
  });

  test('finds the same moments forward and backward', () => {
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'Pacific/Apia',
    ];
    const lines = [
      '*/7 * * * *',
      '30 2 * * *',
      '0 0,1,2,3 * * 0',
      '59 23 28-31 * *',
      '0 12 29 2 *',
      '15 */3 * * 1-5',
    ];
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (const timeZone of zones)
      for (const cron of lines) {
        const moments = ticks({ cron, timeZone });
        for (let n = 0; n < 15; n++) {
          const time = at('2026-01-01T00:00:00Z') + random(366 * 1440) * 60_000 + random(60_000);
          const next = moments.after(time) as number;
          const last = moments.until(time) as number;
          expect(next).toBeGreaterThan(time);
          expect(last).toBeLessThanOrEqual(time);
          expect(moments.until(next)).toBe(next);
          expect(moments.until(next - 1)).toBe(last);
          expect(moments.after(last)).toBe(next);
          expect(moments.after(last - 1)).toBe(last);
        }
      }
  });
});
