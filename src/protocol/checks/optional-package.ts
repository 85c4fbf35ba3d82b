// Packages that are installed only where they are used. Each is imported by its literal name inside a `try`, which bundlers understand: they
// put the package into the bundle if it is installed, and leave the import alone if it is not. Webpack would warn about that, so it is told
// to leave the import alone in any case. `as string` keeps the compiler from looking for the types of a package that may not be there.

/** A package that an option needs is not installed. */
export class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError';
}

/**
 * The error to throw if the import of an optional package failed: a sentence with what to do if the package is not there, and otherwise the
 * error itself, because the package is there and broken.
 *
 * @param instead The option that a program can pass instead, for bundles without the package.
 */
export function explainImport(
  error: unknown,
  { user, name, instead }: { readonly user: string; readonly name: string; readonly instead?: string },
): unknown {
  if (!isNotInstalled(error, name)) return error;
  return new MissingPackageError(
    `${user} needs the package "${name}". Install it: npm install ${name}. If the program is bundled, install it where the bundle is made${instead === undefined ? '' : `, or pass ${instead}`}.`,
    { cause: error },
  );
}

/** Whether an import failed because the package itself was not found, not something inside it. */
export function isNotInstalled(error: unknown, name: string): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  // The message of Deno and Bun has the name in other quotes, and sometimes no code.
  const isNotFound = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || code === undefined;
  return isNotFound && [`'${name}'`, `"${name}"`].some((quoted) => error.message.includes(quoted));
}

/** The exports of a package. A package in CommonJS has them as its default export, too, or only there. */
export function exportsOf<T extends object>(module: object, name: keyof T & string): T {
  return (name in module ? module : (module as { readonly default?: unknown }).default) as T;
}
