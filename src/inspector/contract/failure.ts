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
}
