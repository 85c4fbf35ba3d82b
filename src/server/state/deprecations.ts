// Reports the use of what the protocol has deprecated.

import type { Deprecated } from './deprecated-parts.js';
import type { Logger } from './log.js';

/** The reaction to a handler that uses something deprecated. */
export type DeprecationMode = 'warn' | 'ignore' | 'error';

/** Reports the use of a deprecated part. Throws if deprecated parts must not be used. */
export type ReportDeprecated = (name: Deprecated) => void;

/** Makes the function that reports the use of each deprecated part once. */
export function deprecationReports(mode: DeprecationMode = 'warn', log: Logger): ReportDeprecated {
  if (!['warn', 'ignore', 'error'].includes(mode))
    throw new TypeError('"deprecations" must be "warn", "ignore" or "error".');
  const reported = new Set<Deprecated>();
  return function report(name) {
    if (mode === 'error')
      throw new Error(`The protocol deprecates ${name}. docs/compatibility.md says what to write instead.`);
    if (mode === 'ignore' || reported.has(name)) return;
    reported.add(name);
    // Few servers need the advice, so it is loaded when it is.
    void import('./deprecated-parts.js').then(({ adviceFor }) => log('warning', adviceFor(name)));
  };
}
