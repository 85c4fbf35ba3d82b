// The build that is measured: dist, or another one to compare with (FULLMCP_DIST).
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const dist = process.env.FULLMCP_DIST ?? fileURLToPath(new URL('../dist', import.meta.url));

/** @param {'index' | 'node' | 'auth' | 'stdio' | 'client' | 'lmdb' | 'middleware' | 'otel' | 'proxy' | 'gateway'} entry */
export function fullmcp(entry) {
  return import(pathToFileURL(resolve(dist, `${entry}.js`)).href);
}
