// Contenders of another build, measured in the same rounds: `--against <checkout>`.

/** The suffix of the other build's contenders. */
export const BEFORE = '@before';

/**
 * The contenders, and those of fullmcp again with the other build.
 * @param {readonly string[]} names
 * @param {string | undefined} against The other build's `dist`.
 * @param {(name: string) => boolean} [isOurs]
 * @returns {{ name: string, file: string, dist: string | undefined }[]}
 */
export function withBefore(names, against, isOurs = (name) => name.startsWith('fullmcp')) {
  const now = names.map((name) => ({ name, file: name, dist: undefined }));
  if (against === undefined) return now;
  const before = names.filter(isOurs).map((name) => ({ name: name + BEFORE, file: name, dist: against }));
  return [...now, ...before];
}
