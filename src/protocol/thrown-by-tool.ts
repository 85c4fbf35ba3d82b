// The error behind a masked result, for clients in the same process.

/**
 * The key of the error that a tool has thrown, on its outcome. JSON has no symbols, so that it never leaves the process: a test of a server
 * sees the reason, and a peer only the masked message.
 */
const THROWN: unique symbol = Symbol.for('fullmcp.thrown') as never;

/** A result with the error that is masked in it. */
export function withThrown<T extends object>(result: T, error: unknown): T {
  return { ...result, [THROWN]: error };
}

/** The error that is masked in an outcome; undefined if there is none, or if it comes from another process. */
export function thrownIn(outcome: object): unknown {
  return (outcome as { readonly [THROWN]?: unknown })[THROWN];
}
