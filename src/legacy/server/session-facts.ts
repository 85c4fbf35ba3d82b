import { McpError } from '../../protocol/errors.js';
import { MAX_SUBSCRIBED, MAX_SUBSCRIBED_LENGTH } from '../../protocol/tables/limits.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';

// The settings of a client in its session.

/** The log level and the subscribed resources of a session. */
export interface SessionFacts {
  readonly logLevel: LogLevel;
  /** The URIs of the subscribed resources; undefined if there never was one. */
  readonly uris: readonly string[] | undefined;
}

/** One change of the facts. */
export type FactChange =
  | { readonly logLevel: LogLevel }
  | { readonly subscribe: string }
  | { readonly unsubscribe: string };

/** The facts of a new session. */
export const initialFacts: SessionFacts = { logLevel: 'info', uris: undefined };

/** The facts after a change; the same object if nothing changes. Throws if there are too many subscriptions. */
export function withChange(facts: SessionFacts, change: FactChange): SessionFacts {
  if ('logLevel' in change)
    return change.logLevel === facts.logLevel ? facts : { ...facts, logLevel: change.logLevel };
  const { uris = [] } = facts;
  if ('unsubscribe' in change)
    return uris.includes(change.unsubscribe)
      ? { ...facts, uris: uris.filter((uri) => uri !== change.unsubscribe) }
      : facts;
  if (uris.includes(change.subscribe)) return facts;
  const all = [...uris, change.subscribe];
  const characters = all.reduce((sum, { length }) => sum + length, 0);
  if (all.length > MAX_SUBSCRIBED || characters > MAX_SUBSCRIBED_LENGTH)
    throw new McpError(
      'invalid_params',
      `A session can subscribe to at most ${MAX_SUBSCRIBED} resources, whose URIs have at most ${MAX_SUBSCRIBED_LENGTH} characters together. Unsubscribe from some first.`,
    );
  return { ...facts, uris: all };
}
