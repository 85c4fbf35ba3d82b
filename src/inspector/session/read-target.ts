// Reads a target, and the roots, that the page sent.

import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { TargetSpec } from '../contract/connection.js';
import { revisionOf } from './connection/connection.js';
import type { CommandInput } from './input.js';

/** The server to connect to, which is named in exactly one way. */
export function readSpec(input: CommandInput): TargetSpec {
  const [text, url, command, name] = ['text', 'url', 'command', 'name'].map((field) =>
    input.textIfGiven(field),
  );
  if ([text, url, command, name].filter((field) => field !== undefined).length !== 1)
    throw new McpError(
      'invalid_params',
      'Say where the server is: a URL, a file, a command, or one that was found.',
    );
  const [args, scopes, headers, env] = [
    input.textsIfGiven('args'),
    input.textsIfGiven('scopes'),
    input.stringsIfGiven('headers'),
    input.stringsIfGiven('env'),
  ];
  const [cwd, token, as, revision] = ['cwd', 'token', 'as', 'revision'].map((field) =>
    input.textIfGiven(field),
  );
  if (revision !== undefined && revisionOf(revision) === undefined)
    throw new McpError('invalid_params', `"${revision.slice(0, 40)}" is not a revision.`);
  return {
    ...(text !== undefined && { text }),
    ...(url !== undefined && { url }),
    ...(command !== undefined && { command }),
    ...(name !== undefined && { name }),
    ...(args && { args }),
    ...(headers && { headers }),
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
    ...(token !== undefined && { token }),
    ...(as !== undefined && { as }),
    ...(scopes && { scopes }),
    ...(revision !== undefined && { revision }),
  };
}

/** A folder that the server may use. */
export function readRoot(value: unknown): { uri: string; name?: string } {
  const { uri, name } = isObject(value) ? value : {};
  if (typeof uri !== 'string' || !uri.startsWith('file://') || uri.length > 4000)
    throw new McpError('invalid_params', 'A root has a URI that begins with file://');
  return { uri, ...(typeof name === 'string' && name !== '' && { name: name.slice(0, 500) }) };
}
