// Reports the use of what the protocol has deprecated.

import { type DeprecationCode, deprecationWarning } from '../../protocol/deprecation.js';
import type { Logger } from './log.js';

/** The name of a deprecated part of the API. */
type Deprecated = 'ctx.sample' | 'includeContext' | 'ctx.roots';

/** The code of a deprecation, the revision that deprecates the part, and what to do. */
interface Advice {
  readonly code: DeprecationCode;
  readonly since: string;
  readonly instead: string;
}

// Spec 2026-07-28, Deprecated Features.
const deprecated: Readonly<Record<Deprecated, Advice>> = {
  'ctx.sample': { code: 'FMDEP001', since: '2026-07-28', instead: 'Call the API of a model provider' },
  includeContext: {
    code: 'FMDEP002',
    since: '2025-11-25',
    instead: 'Leave "includeContext" of ctx.sample out, or use "none"',
  },
  'ctx.roots': {
    code: 'FMDEP003',
    since: '2026-07-28',
    instead: 'Take folders as arguments of the tool, or configure them in the server',
  },
};

/** The reaction to a handler that uses something deprecated. */
export type DeprecationMode = 'warn' | 'ignore' | 'error';

/** Reports the use of a deprecated part. Throws if deprecated parts must not be used. */
export type ReportDeprecated = (name: Deprecated) => void;

/** Makes the function that reports the use of each deprecated part once. */
export function deprecationReports(mode: DeprecationMode, log: Logger): ReportDeprecated {
  const reported = new Set<Deprecated>();
  return function report(name) {
    if (mode === 'error') throw new Error(adviceFor(name));
    if (mode === 'ignore' || reported.has(name)) return;
    reported.add(name);
    log('warning', adviceFor(name));
  };
}

/** The warning for a use of a deprecated part: it says what to write instead. */
function adviceFor(name: Deprecated): string {
  const { code, since, instead } = deprecated[name];
  return deprecationWarning(
    code,
    `The protocol deprecates ${name} since ${since}, and may remove it from 2027-07-28 on. ${instead}.`,
  );
}
