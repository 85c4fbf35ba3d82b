// Reports the use of what the protocol has deprecated.

import type { Logger } from './log.js';

// Spec 2026-07-28, Deprecated Features.
const deprecated = {
  'ctx.sample': ['2026-07-28', 'Call the API of a model provider'],
  'ctx.roots': ['2026-07-28', 'Take folders as arguments of the tool, or configure them in the server'],
  includeContext: ['2025-11-25', 'Leave "includeContext" of ctx.sample out, or use "none"'],
} as const;

/** The name of a deprecated part of the API. */
type Deprecated = keyof typeof deprecated;

/** The reaction to a handler that uses something deprecated. */
export type DeprecationMode = 'warn' | 'ignore' | 'error';

/** Reports the use of a deprecated part. Throws if deprecated parts must not be used. */
export type ReportDeprecated = (name: Deprecated) => void;

/** Makes the function that reports the use of each deprecated part once. */
export function deprecationReports(mode: DeprecationMode, log: Logger): ReportDeprecated {
  const reported = new Set<Deprecated>();
  return function report(name) {
    if (mode === 'error')
      throw new Error(`The protocol deprecates ${name}. docs/compatibility.md says what to write instead.`);
    if (mode === 'ignore' || reported.has(name)) return;
    reported.add(name);
    log('warning', adviceFor(name));
  };
}

/** The warning for a use of a deprecated part: it says what to write instead. */
function adviceFor(name: Deprecated): string {
  const [since, instead] = deprecated[name];
  return `The protocol deprecates ${name} since ${since}, and may remove it from 2027-07-28 on. ${instead}.`;
}
