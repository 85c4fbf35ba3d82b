// The contract of an event log: the streams of sessions, and the limits that every engine has.

/**
 * Keeps the events of streams, so that a client that lost its connection gets the events that it missed, from any process and
 * while another process writes them. A stream's name begins with the part that identifies its owner, up to the first dot.
 */
export interface EventLog {
  /** Stores an event at the end of a stream. Returns the id of the event, which begins with the stream's name and a dash. */
  append(stream: string, data: string, options?: AppendOptions): Promise<string>;
  /**
   * Reads the events that followed the event `after`, then those that are appended, until the last one or until `signal` aborts.
   * Undefined if the stream is unknown.
   */
  follow(after: string, signal: AbortSignal): Promise<FollowedStream | undefined>;
  /** Removes a stream, which will not be resumed any more. */
  drop(stream: string): Promise<void>;
  /** Closes the log. Called when the server closes. */
  close(): Promise<void>;
}

/** The options of `append`. */
export interface AppendOptions {
  /** Whether the stream ends with this event. Default: false. */
  readonly last?: boolean;
}

/** A stream that is being read. */
export interface FollowedStream {
  /** The name of the stream. */
  readonly stream: string;
  /** Whether events are missing, because the log had no room for them. */
  readonly gap: boolean;
  /** Ends after the last event of the stream, and when the signal aborts. Throws if the log fails. */
  readonly events: AsyncIterable<LoggedEvent>;
}

/** An event as it was stored. */
export interface LoggedEvent {
  /** The id of the event. */
  readonly id: string;
  /** The message, as JSON. */
  readonly data: string;
  /** Whether the stream ends with this event. */
  readonly last: boolean;
}

/** The limits of an event log. Every engine has the same, with the same defaults. */
export interface EventLimits {
  /**
   * The time after which a stream without a new event is dropped, in milliseconds. NATS drops each event after that time.
   * Default: 1 hour.
   */
  readonly maxAgeMs?: number;
  /** The number of events of one stream. At the limit, the oldest are dropped. Default: 1,000. */
  readonly maxEventsPerStream?: number;
  /**
   * The size of the events of one stream, in bytes. At the limit, the oldest are dropped, but never the newest. Postgres and NATS
   * do not limit it, and say so when they start. Default: 4 MB.
   */
  readonly maxBytesPerStream?: number;
  /** The size of one event, in bytes. A larger one is rejected with a `RangeError`. Default: 16 MB. */
  readonly maxEventBytes?: number;
}

/** The table of `EventLimits`. */
export const eventLimitTable = {
  maxAgeMs: { is: 'count', default: 3_600_000 },
  maxEventsPerStream: { is: 'count', default: 1000 },
  maxBytesPerStream: { is: 'count', default: 4_194_304 },
  maxEventBytes: { is: 'count', default: 16_777_216 },
} as const;

/** The warning of an engine that cannot limit the size of a stream, for an operator who has set that limit. */
export function unlimitedStreams(engine: string, { maxBytesPerStream }: EventLimits = {}): readonly string[] {
  if (maxBytesPerStream === undefined) return [];
  return [
    `${engine} cannot limit the size of a stream, so that "events.maxBytesPerStream" has no effect. Set maxEventsPerStream and maxEventBytes.`,
  ];
}

/** Throws a RangeError if an event is too large for the log. */
export function checkEventSize(bytes: number, limit: number, option = 'maxEventBytes'): void {
  if (bytes > limit)
    throw new RangeError(
      `An event of ${bytes} bytes is too large for the event log, which takes ${limit} (${option}).`,
    );
}
