// Contenders of another build, measured in the same turns: `--against <checkout>`.

/** What is measured of both builds is called so in the other one. */
export const BEFORE = '@before';

/**
 * The contenders, and those of fullmcp's once more with the other build.
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
