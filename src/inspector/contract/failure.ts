// A failure, as the page shows it.

export interface Failure {
  /** The stable name, such as `connect_failed`. */
  readonly code: string;
  /** The failure in the client's own words. */
  readonly message: string;
  /** What to do. */
  readonly advice?: string;
  /** The number of a JSON-RPC error. */
  readonly number?: number;
  readonly data?: unknown;
  /** The last words of the process, if the server was one and has ended. */
  readonly output?: ProcessOutput;
}

/** The lines that a process wrote to stderr before it ended, secrets masked. */
export interface ProcessOutput {
  /** The line that says why it ended, as far as that can be told. */
  readonly cause?: string;
  /** The last lines since the call began, in order. */
  readonly lines: readonly string[];
  /** The last lines before the call began, in order. */
  readonly earlier: readonly string[];
}
