import type { RefusedCaller } from '../protocol/telemetry/events.js';

// The middleware that hears of refused credentials. Middleware brings its listener, and a server passes the listeners of its middleware on to
// its transports, under a key that the public types do not have.

/** Hears of requests whose credentials were refused, before they became calls. */
export interface RefusalListener {
  /** Called with each of them. */
  readonly each?: ((refused: RefusedCaller) => void) | undefined;
  /**
   * Called with the first of them for each reason, and then at most once a minute with the number of those since. The number of reasons is
   * limited, so that a flood of requests does not become a flood of reports.
   */
  readonly report?: ((refused: RefusedCaller & { readonly count: number }) => void) | undefined;
}

// Middleware and server may be of two copies of the package.
const LISTENERS: unique symbol = Symbol.for('fullmcp.refusalListeners');

/** Gives listeners to middleware or to a server. */
export function withRefusalListeners<Owner extends object>(
  owner: Owner,
  listeners: readonly RefusalListener[],
): Owner {
  return Object.assign(owner, { [LISTENERS]: listeners });
}

/** The listeners of middleware or of a server. A running server may get more of them. */
export function refusalListenersOf(owner: object): readonly RefusalListener[] {
  return (owner as { readonly [LISTENERS]?: readonly RefusalListener[] })[LISTENERS] ?? [];
}
