// The secrets that a command line, a configured server and the environment have: none of them may reach a tape.

import type { ConnectOptions } from '../../connect/targets/options.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryDecode } from '../../protocol/encoding/percent-decoding.js';
import { piecesOf } from '../../protocol/secrets/values.js';
import type { Typed } from '../command/definition.js';
import type { TypedTarget } from '../target/read-target.js';

/** Every value that is sent along with requests or given to a process: tokens, headers, variables, and the query of the URL. */
export function targetSecrets(
  input: Typed,
  { target }: TypedTarget,
  options: ConnectOptions,
): readonly string[] {
  const { auth, headers } = options;
  const own: JsonObject = isObject(target) ? target : {};
  const url = typeof target === 'string' || target instanceof URL ? target : own['url'];
  return [
    ...(typeof auth === 'string' ? [auth] : []),
    ...valuesOf(headers),
    ...valuesOf(own['headers']),
    ...valuesOf(own['env']),
    ...urlSecrets(url),
    ...input.texts('env').map((text) => text.slice(text.indexOf('=') + 1)),
  ].flatMap(piecesOf);
}

function valuesOf(record: unknown): readonly string[] {
  return isObject(record) ? Object.values(record).filter((value) => typeof value === 'string') : [];
}

function urlSecrets(url: unknown): readonly string[] {
  if (!(url instanceof URL) && !(typeof url === 'string' && URL.canParse(url))) return [];
  const { username, password, searchParams } = new URL(url);
  return [tryDecode(username), tryDecode(password), ...searchParams.values()];
}
