import { splitSecrets } from '../../../protocol/checks/secret.js';
import type { ServeOptions } from '../server/options.js';
import { readSmallFile } from './read-file.js';
import { settingRows } from './settings.js';

// The options that the environment has.

export type Environment = Readonly<Record<string, string | undefined>>;

/** The options of the environment that `options` does not have. An empty variable counts as unset. */
export function environmentOptions(env: Environment, options: ServeOptions = {}): ServeOptions {
  // A variable that an option replaces is not read, so that it cannot be wrong either.
  const rows = settingRows().flatMap(([name, { variable, read }]) => {
    const value = variable === undefined ? undefined : env[variable];
    return value && options[name] === undefined ? [[name, read?.(value, variable as string)]] : [];
  });
  return { ...(options.tls === undefined && tlsOf(env)), ...Object.fromEntries(rows) };
}

function tlsOf({ MCP_TLS_CERT: cert, MCP_TLS_KEY: key }: Environment): Pick<ServeOptions, 'tls'> {
  if (!cert && !key) return {};
  if (cert && key) return { tls: { cert, key } };
  throw new TypeError('The environment variables MCP_TLS_CERT and MCP_TLS_KEY must be set together.');
}

/** The secrets of `MCP_SECRET`, or of the file that `MCP_SECRET_FILE` names; undefined if neither is set. */
export function environmentSecrets(env: Environment): readonly string[] | undefined {
  const { MCP_SECRET: secret, MCP_SECRET_FILE: secretFile } = env;
  return secretsOf(
    { secret: secret || undefined, secretFile: secretFile || undefined },
    'MCP_SECRET and MCP_SECRET_FILE',
  );
}

/** The secrets of one source. Throws if it has two, because nobody could tell which one is used. */
export function secretsOf(
  { secret, secretFile }: Pick<ServeOptions, 'secret' | 'secretFile'>,
  names: string,
): readonly string[] | undefined {
  if (secret !== undefined && secretFile !== undefined)
    throw new TypeError(`${names} are both set. Remove one of them.`);
  if (secretFile === undefined) return typeof secret === 'string' ? splitSecrets(secret) : secret;
  const { text } = readSmallFile(secretFile, 'The file of the secret,', 64 * 1024);
  const secrets = splitSecrets(text.trim().replaceAll(/\s*\n\s*/g, ','));
  if (secrets[0] !== '') return secrets;
  throw new TypeError(`The file of the secret, ${secretFile}, is empty.`);
}
