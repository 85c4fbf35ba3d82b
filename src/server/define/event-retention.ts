// How long events are kept, and how many of them.

/** The events that are kept for subscribers that were away. */
export interface EventRetention {
  /**
   * The time for which an event is kept, and its id is known, in milliseconds: from a minute to 30 days. Events expire together with those
   * before and after them, so that some are kept for half as long again. Default: 24 h.
   */
  readonly forMs?: number;
  /**
   * The most events that are kept of each type, at least 1000: the oldest make room, up to 500 at a time. An event of more than 2 kB counts
   * as several. Default: as many as the store has room for.
   */
  readonly maxEvents?: number;
}

/** The table of the options. */
export const retentionTable = {
  forMs: { is: 'ms', min: 60_000, max: 2_592_000_000, default: 86_400_000 },
  maxEvents: { is: 'count', min: 1000 },
} as const;
