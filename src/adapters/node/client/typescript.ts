import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import type { ServerProcess } from '../../../transports/stdio/client/spawn.js';

// Starts TypeScript on a Node that does not run it by itself.

/** The process that runs a script in TypeScript: with `jiti`, as the command `fullmcp` does, or with `npx tsx` if there is no `jiti`. */
export function typeScriptProcess(path: string, register: string | undefined): ServerProcess {
  return register === undefined
    ? { command: 'npx', args: ['tsx', path] }
    : { command: process.execPath, args: ['--import', register, path] };
}

/** The advice if `npx tsx` could not be started. */
export function withoutTypeScript(): string {
  return `Node ${process.versions.node} does not run TypeScript by itself, so the script was started with "npx tsx": install jiti (npm install --save-dev jiti), use Node 22.18 or later, or compile it and connect to the .js file.`;
}

/** The module of `jiti` that a Node imports first, in the project of the script or beside fullmcp; undefined if it is not installed. */
export function jitiRegister(path: string): string | undefined {
  for (const from of [pathToFileURL(resolve(path)).href, import.meta.url]) {
    try {
      const manifest = createRequire(from).resolve('jiti/package.json');
      const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as {
        readonly exports: Readonly<Record<string, { readonly import?: unknown } | undefined>>;
      };
      const register = exports['./register']?.import;
      if (typeof register === 'string') return pathToFileURL(join(dirname(manifest), register)).href;
    } catch {
      // It is not installed there, or is another version.
    }
  }
  return undefined;
}
