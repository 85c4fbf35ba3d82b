// Resolves the entry `fullmcp` to the one with every middleware, for modules of the tests.

const STANDS_FOR = new URL('./fullmcp.js', import.meta.url).href;
const ROOT = new URL('../../../../', import.meta.url).href;

/** The modules whose imports are left alone: the package itself, and the one that stands for it. */
const LEFT_ALONE = /^(?:src|dist|node_modules|test\/flows\/middleware\/everywhere)\//;

/**
 * Whether a module gets the servers with every middleware.
 *
 * @param {string} url
 */
export function isOfTests(url) {
  return url.startsWith(ROOT) && !LEFT_ALONE.test(url.slice(ROOT.length));
}

/**
 * The hook of Node.
 *
 * @param {string} specifier
 * @param {{ readonly parentURL?: string }} context
 * @param {(specifier: string, context: object) => Promise<{ readonly url: string }>} nextResolve
 */
export async function resolve(specifier, context, nextResolve) {
  const found = await nextResolve(specifier, context);
  const isEntry = found.url === `${ROOT}dist/index.js`;
  return isEntry && isOfTests(context.parentURL ?? '') ? { ...found, url: STANDS_FOR } : found;
}
