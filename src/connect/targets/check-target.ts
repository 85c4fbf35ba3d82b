// Checks targets that are objects, for programs that were not compiled with their types.

import { type ForeignNames, unknownKeys } from '../../protocol/checks/known-keys.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { ServerProcess } from '../../transports/stdio/client/spawn.js';
import { addressTable, processTable } from './option-tables.js';
import type { Target } from './target.js';

/**
 * Throws if a target, or one of an array, has mistakes that the compiler would have found. Every one of them is known to be a target.
 * `connect` loads this only for targets that are objects.
 */
export function checkTargets(target: Target): void {
  if (Array.isArray(target)) for (const each of target as readonly Target[]) checkTargets(each);
  if (typeof target !== 'object' || target instanceof URL || 'dispatch' in target) return;
  if ('command' in target) checkProcess(target);
  else if ('url' in target && !('service' in target) && !('mcpServers' in target))
    checkKeys('{ url }', target, addressTable, { auth: 'Pass `auth` in the options.' });
}

function checkProcess(server: ServerProcess): void {
  checkKeys('{ command }', server, processTable, { arguments: 'args', environment: 'env', dir: 'cwd' });
  const { command, args, env, cwd }: { readonly [Key in keyof ServerProcess]?: unknown } = server;
  const mistakes = [
    (typeof command !== 'string' || command === '') && '`command` must be a non-empty string',
    typeof args === 'string' && `\`args\` must be an array of strings: ["${shorten(args, 64)}"]`,
    args !== undefined &&
      typeof args !== 'string' &&
      !(Array.isArray(args) && args.every((arg) => typeof arg === 'string')) &&
      '`args` must be an array of strings',
    env !== undefined &&
      (typeof env !== 'object' || env === null) &&
      '`env` must be an object whose values are strings',
    cwd !== undefined && typeof cwd !== 'string' && '`cwd` must be a string',
  ].filter((mistake) => mistake !== false);
  if (mistakes.length > 0) throw new McpError('invalid_request', `{ command }: ${mistakes.join('; ')}.`);
}

function checkKeys(
  shape: string,
  target: object,
  keys: Readonly<Record<string, unknown>>,
  foreign: ForeignNames,
): void {
  // Entries of a config file may have a `type`. It is ignored.
  const unknown = unknownKeys(target, { ...keys, type: true }, foreign);
  if (unknown.length === 0) return;
  const lines = unknown.map(
    ({ key, hint }) => `A target ${shape} has no field ${JSON.stringify(key)}. ${hint}`,
  );
  throw new McpError('invalid_request', lines.join('\n'));
}
