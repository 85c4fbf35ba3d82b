// Finds the server that a file exports, or finds out that the file serves by itself.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { nextTurn } from '../../../../async/next-turn.js';
import type { serve } from '../../../../node.js';
import type { serveStdio } from '../../../../stdio.js';
import { usageError } from '../../../command/failures.js';
import { missingFile } from '../../../target/missing-file.js';
import { loadFailure } from './load-failure.js';
import { type Exports, loadModule } from './load-module.js';

/** A server that can be served over every transport. */
export type LoadedServer = Parameters<typeof serve>[0] & Parameters<typeof serveStdio>[0];

/** Whether a word names a file that `loadServer` can load. */
export function isSourceFile(word: string): boolean {
  return /\.[cm]?[jt]s$/i.test(word) && !word.startsWith('file:');
}

/**
 * Loads a file. Returns the server that it exports as `default` or `server`; undefined if the file serves by itself, or may begin to.
 */
export async function loadServer(
  file: string,
  args: readonly string[] = [],
): Promise<LoadedServer | undefined> {
  if (!existsSync(file)) throw usageError(missingFile(file));
  // The program sees the arguments that it would have if Node had started it.
  process.argv = [process.execPath, resolve(file), ...args];
  const before = listenerCount();
  const exports = await loadModule(file).catch((error: unknown) => {
    throw loadFailure(file, error);
  });
  // A program that does not wait for `serve` listens a few turns later.
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((done) => nextTurn(done));
  return listenerCount() > before ? undefined : exportedServer(exports);
}

function exportedServer(exports: Exports): LoadedServer | undefined {
  // A CommonJS module has its exports in `default`.
  const inner = exports['default'] as Exports | undefined;
  return [inner, exports['server'], inner?.['default'], inner?.['server']].find(isServer);
}

function isServer(value: unknown): value is LoadedServer {
  if (typeof value !== 'object' || value === null) return false;
  return ['dispatch', 'start', 'close'].every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'function',
  );
}

/** The readers of stdin and the open ports. A program that serves by itself adds one of them. */
function listenerCount(): number {
  const { stdin } = process;
  const ports = process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  return stdin.listenerCount('data') + stdin.listenerCount('readable') + ports;
}
