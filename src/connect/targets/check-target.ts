// Checks a target that is an object, for programs that were not compiled with its types.

import { type ForeignNames, unknownKeys } from '../../protocol/checks/known-keys.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { ServerProcess } from '../../transports/stdio/client/spawn.js';
import { addressKeys, processKeys } from './option-keys.js';

/** Throws if a target has mistakes that the compiler would have found. Loaded only for targets that are objects. */
export function checkTarget(target: object): void {
  if ('command' in target) checkProcess(target as ServerProcess);
  else checkKeys('{ url }', target, addressKeys, { auth: 'Pass `auth` in the options of connect().' });
}

function checkProcess(server: ServerProcess): void {
  checkKeys('{ command }', server, processKeys, { arguments: 'args', environment: 'env', dir: 'cwd' });
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
  keys: Readonly<Record<string, true>>,
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
