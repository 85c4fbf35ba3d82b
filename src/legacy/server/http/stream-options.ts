import type { FollowedStream } from '../../../state/event-log.js';
import type { GuardedLog } from './guarded-log.js';

// The options of streams that outlive their connections.

/** The parts of a `ResumableStream`. */
export interface ResumableStreamOptions {
  readonly log: GuardedLog;
  /** The first event tells the client when to reconnect. Undefined for revisions that cannot read that event. */
  readonly retryMs?: number | undefined;
  /** Called when this process has nothing more to do with the stream. */
  readonly onDone?: () => void;
}

/** The right of this process to write a stream. */
export interface StreamClaim {
  /** Whether the stream still belongs to this process. */
  confirm(): boolean | Promise<boolean>;
}

/** The options of `send`. */
export interface EventOptions {
  /** Whether the stream ends with this event. Default: false. */
  readonly last?: boolean;
  /** Whether storing the event is tried again for a while if the log fails. Default: false. */
  readonly keep?: boolean;
  /** The event that is stored in place of one that is too large for the log. */
  readonly instead?: string;
  /** Called with the end of storing the event. The client does not get the event if it is not stored. */
  readonly onStored?: (isStored: boolean) => void;
}

/** The events of a stream after the client's last one, as they are read from the log. */
export interface Followed {
  readonly after: string;
  /** The stream, if the log was asked already. */
  readonly stream?: FollowedStream;
  /** Ends the reading. */
  readonly controller: AbortController;
}
