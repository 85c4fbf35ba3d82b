// The lifetimes of subscriptions, and the times after which something is over.

/** The lifetime of a subscription whose client does not ask for one, and the bounds of those that clients ask for. */
const TTL_MS = { default: 86_400_000, least: 1000, most: 30 * 86_400_000 } as const;

/** The times that tests shorten. */
export interface WebhookTimes {
  /** The time for which no process has to have a fitting type, before a subscription ends: a new version may be on its way. */
  readonly misfitMs: number;
  /** The time after which a subscription that is still being made was left behind by a process that died. */
  readonly startingMs: number;
  /** The time until the next attempt after this many failures; undefined if there is to be none. */
  readonly retryInMs: (failures: number, askedMs?: number) => number | undefined;
}

/** The lifetime that is granted. */
export function grantedMs(asked: number | null | undefined): number {
  if (asked === undefined) return TTL_MS.default;
  // A subscription without an end would have to be found when its caller is gone for good.
  if (asked === null) return TTL_MS.most;
  return Math.min(TTL_MS.most, Math.max(TTL_MS.least, Math.floor(asked)));
}
