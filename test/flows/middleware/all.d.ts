import type { Middleware } from 'fullmcp';
import type { CallLog } from 'fullmcp/middleware';

/**
 * Every middleware, in the order that the docs recommend, with limits that a test does not reach. `entries` receives the log that they
 * write, and `maxChars` is the length from which results are shortened.
 */
export function allMiddleware(entries?: CallLog[], maxChars?: number): readonly Middleware[];
