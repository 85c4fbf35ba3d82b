// The schedule of a type of events: when its events happen, and the function that makes them.

import type { Awaitable } from './tool-handler.js';

/** A moment of a schedule. */
export interface ScheduleTick {
  /** The time of the moment, as the schedule has it. It may be past: a process was away, or `run` has failed before. */
  readonly at: Date;
  /** The moment that was told before this one; undefined for the first. */
  readonly previous: Date | undefined;
  /** Aborts when another process has the schedule, when the server shuts down, or after five minutes. */
  readonly signal: AbortSignal;
}

/** The schedule of a type of events. It begins when a server with it is started, and every moment is told once in the whole cluster. */
export interface EventSchedule<Data = object> {
  /** The time between two moments: `30s`, `5m`, `2h` or `1d`, at least a second. They are counted from 1970, so that all processes agree. */
  readonly every?: string;
  /** The moments as `cron` writes them, with five fields: `0 9 * * 1` is Monday at nine. */
  readonly cron?: string;
  /** The time zone of `cron`, such as `Europe/Berlin`. Default: `UTC`. */
  readonly timeZone?: string;
  /**
   * Which of the moments are told that were missed, because no process was running: the `last` one, `all` (at most the newest 100), or
   * `none` that is more than a minute ago. Default: `last`.
   */
  readonly catchUp?: 'last' | 'all' | 'none';
  /**
   * Makes the event of a moment: its data, an array of at most 100, or undefined if there is nothing to tell. If it throws, it is called
   * again, with growing delays.
   */
  readonly run: (tick: ScheduleTick) => Awaitable<Data | readonly Data[] | undefined>;
}

/** The table of the options. */
export const scheduleTable = {
  every: 'string',
  cron: 'string',
  timeZone: 'string',
  catchUp: { oneOf: ['last', 'all', 'none'] },
  run: { is: 'function', required: true },
} as const;
