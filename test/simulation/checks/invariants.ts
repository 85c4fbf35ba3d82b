// The promises that a simulation checks.

/** The promises that a simulation checks. */
export type Invariant =
  /** A task that a client knows is never forgotten. */
  | 'task lost'
  /** After the faults have ended, every task and every call ends. */
  | 'never ends'
  /** A task fails only if it was started too often without success. */
  | 'task failed'
  /** A step whose result is recorded does not run again, and its result is the one that the task returns. */
  | 'recorded step ran again'
  /** A step that was cut off runs again with the same idempotency key. */
  | 'step has another key'
  /** An answer reaches only the question that was answered. */
  | 'answers mixed up'
  /** A step starts only in the process that holds the task. */
  | 'step without a lease'
  /** A lease is granted only if nobody holds the key. */
  | 'lease granted twice'
  /** A write under a lease that somebody else has by now changes nothing. */
  | 'stale write'
  /** A task that has ended does not change any more. */
  | 'ended task changed'
  /** After a cancellation no further step starts. */
  | 'step after cancellation'
  /** A call with an idempotency key takes effect once, and everybody gets its outcome. */
  | 'keyed call took effect twice'
  /** A task is created once for an idempotency key, and everybody gets that task. */
  | 'keyed task created twice'
  /** A step of a call runs once for each time that its part of the call was sent. */
  | 'step of a call ran again'
  /** A call fails only if a process or a connection did. */
  | 'call failed'
  /** Nobody gets or changes anything that belongs to another caller. */
  | 'served to another caller'
  /** A session is known to every process until its client ends it. */
  | 'session lost'
  /** A session that its client has ended is not served any more. */
  | 'session not ended'
  /** The log level of a session is known to every process. */
  | 'log level forgotten'
  /** A client that resumes its streams gets every message once, if the event log did not fail. */
  | 'event lost'
  /** A follower is told every event that its publisher knows to be kept, once, in the order of the publisher, and of no gap. */
  | 'event not told once in order'
  /** Every process hears of a change, or that it may have missed one, and so do its subscribers. */
  | 'change not heard'
  /** Everything that is counted is uncounted in the end. */
  | 'quota not returned'
  /** Nothing is left in the store that nobody needs. */
  | 'left in the store'
  /** Subscribers hear of the end of a task. */
  | 'end not heard'
  /** A server that is closed ends in bounded time. */
  | 'shutdown hangs'
  /** No error is lost inside of the server. */
  | 'unhandled error';

/** A broken promise. */
export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
}

/** Reports a broken promise. */
export type Violate = (invariant: Invariant, detail: string) => void;
