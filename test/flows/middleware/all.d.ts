import type { Middleware } from 'fullmcp';
import type { CallLog } from 'fullmcp/middleware';

/** Every middleware, in the order that the docs recommend, with limits that a test does not reach, and the log that they write. */
export function allMiddleware(entries?: CallLog[]): readonly Middleware[];
