// The contract of an event log: the streams of sessions.

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
