// Loads a program of the user, in JavaScript or TypeScript, without a build step.

import nodeModule, { createRequire } from 'node:module';
import { resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { usageError } from '../../../command/failures.js';

export type Exports = Readonly<Record<string, unknown>>;

/**
 * Imports a file. TypeScript is loaded by Node itself where it can (since 22.18 and 23.6), otherwise by `jiti`. In both, an import of
 * `./x.js` finds `./x.ts`.
 */
export async function loadModule(file: string): Promise<Exports> {
  const path = resolve(file);
  if (!/\.[cm]?ts$/i.test(path)) return import(pathToFileURL(path).href);
  if (!hasTypeStripping()) return (await jitiFor(path))(path);
  findSourcesOfImports();
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    // Enums, namespaces and parameter properties cannot be stripped.
    if ((error as { code?: unknown }).code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw error;
    return (await jitiFor(path, error))(path);
  }
}

function hasTypeStripping(): boolean {
  const { features } = process as { features: { readonly typescript?: unknown } };
  return Boolean(features.typescript);
}

type Load = (path: string) => Promise<Exports>;

/** The `jiti` of the project, or the one that is installed beside fullmcp. */
async function jitiFor(path: string, reason?: unknown): Promise<Load> {
  for (const from of [pathToFileURL(path).href, import.meta.url]) {
    const found = resolvedFrom(from, 'jiti');
    if (found === undefined) continue;
    const { createJiti } = (await import(pathToFileURL(found).href)) as {
      createJiti: (from: string) => { import: (id: string) => Promise<unknown> };
    };
    const jiti = createJiti(pathToFileURL(path).href);
    return async (id) => (await jiti.import(id)) as Exports;
  }
  if (reason !== undefined) throw reason;
  throw usageError(
    `Node ${process.versions.node} does not run TypeScript by itself. Install jiti (npm install --save-dev jiti), or use Node 22.18 or later.`,
  );
}

function resolvedFrom(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}

type Resolved = (specifier: string, context: object) => { url: string };
interface Hooks {
  readonly resolve: (specifier: string, context: object, next: Resolved) => { url: string };
}

let isHooked = false;

/** Lets an import of a `.js` file that does not exist find the `.ts` file that it is compiled from. */
function findSourcesOfImports(): void {
  const { registerHooks } = nodeModule as { registerHooks?: (hooks: Hooks) => void };
  if (isHooked || registerHooks === undefined) return;
  isHooked = true;
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        const isFile = /^(?:\.|\/|file:)/.test(specifier) && /\.[cm]?js$/.test(specifier);
        if (!isFile || (error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
        return next(specifier.replace(/js$/, 'ts'), context);
      }
    },
  });
}
