// Checks targets that are objects, for programs that were not compiled with their types.

import type { ForeignNames } from '../../protocol/checks/known-keys.js';
import { type AnyTable, type OptionTable, optionMistakes } from '../../protocol/checks/options.js';
import { McpError } from '../../protocol/errors.js';
import type { ServerProcess } from '../../transports/stdio/client/spawn.js';
import type { Address, Target } from './target.js';

const processTable: OptionTable<ServerProcess> = {
  command: { is: 'string', required: true },
  args: 'strings',
  env: 'object',
  cwd: 'string',
  stderr: 'any',
};

const addressTable: OptionTable<Address> = { url: 'any', headers: 'any' };

/**
 * Throws if a target, or one of an array, has mistakes that the compiler would have found. Every one of them is known to be a target.
 * `connect` loads this only for targets that are objects.
 */
export function checkTargets(target: Target): void {
  if (Array.isArray(target)) for (const each of target as readonly Target[]) checkTargets(each);
  if (typeof target !== 'object' || target instanceof URL || 'dispatch' in target) return;
  if ('command' in target) {
    checkFields('{ command }', target, processTable, { arguments: 'args', environment: 'env', dir: 'cwd' });
    if (target.command === '')
      throw new McpError('invalid_request', 'A target { command }: "command" must not be empty.');
  } else if ('url' in target && !('service' in target) && !('mcpServers' in target))
    checkFields('{ url }', target, addressTable, { auth: 'Pass `auth` in the options.' });
}

function checkFields(shape: string, target: object, table: AnyTable, foreign: ForeignNames): void {
  // Entries of a config file may have a `type`. It is ignored.
  const mistakes = optionMistakes(`A target ${shape}`, target, { ...table, type: 'any' }, { foreign });
  if (mistakes.length > 0) throw new McpError('invalid_request', mistakes.join('\n'));
}
