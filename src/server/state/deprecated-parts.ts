// The parts of the API that the protocol has deprecated. Spec 2026-07-28, Deprecated Features.

const deprecated = {
  'ctx.sample': ['2026-07-28', 'Call the API of a model provider'],
  'ctx.roots': ['2026-07-28', 'Take folders as arguments of the tool, or configure them in the server'],
  includeContext: ['2025-11-25', 'Leave "includeContext" of ctx.sample out, or use "none"'],
} as const;

/** The name of a deprecated part of the API. */
export type Deprecated = keyof typeof deprecated;

/** The warning for a use of a deprecated part: it says what to write instead. */
export function adviceFor(name: Deprecated): string {
  const [since, instead] = deprecated[name];
  return `The protocol deprecates ${name} since ${since}, and may remove it from 2027-07-28 on. ${instead}.`;
}
