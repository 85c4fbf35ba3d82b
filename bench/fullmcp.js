// The build that is measured: dist, or another one to compare with (FULLMCP_DIST).
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const dist = process.env.FULLMCP_DIST ?? fileURLToPath(new URL('../dist', import.meta.url));

/** @param {'index' | 'node' | 'auth' | 'stdio' | 'client' | 'lmdb' | 'middleware' | 'otel' | 'proxy' | 'gateway'} entry */
export function fullmcp(entry) {
  return import(pathToFileURL(resolve(dist, `${entry}.js`)).href);
}

/**
 * Whether a build has the option `fallbacks`.
 * @param {string} other Its `dist`.
 */
export async function knowsFallbacks(other) {
  const { createServer } = await import(pathToFileURL(resolve(other, 'index.js')).href);
  try {
    await createServer({ name: 'bench', version: '1.0.0', logger: () => undefined, fallbacks: {} }).close();
    return true;
  } catch {
    return false;
  }
}
