/** A deprecation that has a page of its own in `docs/deprecations`. A code is never used again for another one. */
export type DeprecationCode = `FMDEP${'001' | '002' | '003' | '006'}`;

/** The warning about a use of something deprecated: its code, a sentence about it, and the page with the details. */
export function deprecationWarning(code: DeprecationCode, sentence: string): string {
  return `[${code}] ${sentence} See docs/deprecations/${code.toLowerCase()}.md.`;
}
