// Keeps the secrets of configuration files out of the output.

import { isSecretName } from '../../protocol/secrets/is-secret-name.js';
import { hideRecognized } from '../../protocol/secrets/recognized.js';
import { bareUrl } from '../../protocol/secrets/url.js';
import { conceal } from '../../protocol/secrets/values.js';
import { cleanLine, shellWord } from '../../tooling/clean.js';
import type { HostServer } from './shapes.js';

const MASK = '••••';
const OPTION = /^--?[\w-]+/;
/** The options of a command name secrets in more ways than fields do: `--key`, `--auth-header`, `--token-file`. */
const SECRET_WORD = /key|token|secret|password|passwd|auth|credential/i;

const hide = hideRecognized([], MASK);

/** A server as it may be printed. */
export function masked(server: HostServer): HostServer {
  const { env, headers, args, url } = server;
  return {
    ...server,
    ...(args && { args: maskedArgs(args) }),
    ...(env && { env: maskedValues(env) }),
    ...(url !== undefined && { url: maskedUrl(url) }),
    ...(headers && { headers: maskedValues(headers) }),
  };
}

/** The address of a server, or the line that starts it, as it may be printed. */
export function maskedLine(server: HostServer): string {
  const { command = '', args = [], url } = masked(server);
  return cleanLine(url ?? [command, ...args].map(shellWord).join(' '), 200);
}

/** Text in which the secrets of some servers are masked. */
export function maskedText(text: string, servers: readonly HostServer[]): string {
  const secrets = servers.flatMap(({ env = {}, headers = {}, args = [], url = '' }) => [
    ...Object.values(env),
    ...Object.values(headers),
    ...args.filter((arg, at) => maskedArgs(args)[at] !== arg),
    ...(maskedUrl(url) !== url ? [url] : []),
  ]);
  const longestFirst = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length);
  // A short value is masked only where it is all that is in the quotes.
  const quoted = longestFirst.reduce(
    (now, secret) =>
      now.replaceAll(JSON.stringify(secret), `"${MASK}"`).replaceAll(`'${secret}'`, `'${MASK}'`),
    text,
  );
  return conceal(quoted, longestFirst, { mask: MASK, minLength: 6 });
}

function maskedValues(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(record).map((name) => [name, MASK]));
}

/** `--token x`, `--token=x`, and the variables and headers that an argument has: `API_KEY=x`, `X-Api-Key: x`. */
function maskedArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => {
    const [option = ''] = OPTION.exec(arg) ?? [];
    if (isSecretOption(option) && arg[option.length] === '=') return `${option}=${MASK}`;
    const before = args[at - 1] ?? '';
    const isValue = OPTION.exec(before)?.[0] === before && isSecretOption(before) && !arg.startsWith('-');
    if (isValue) return MASK;
    if (/^https?:\/\//i.test(arg)) return maskedUrl(arg);
    if (/^Authorization:|\bBearer /i.test(arg)) return MASK;
    const [, name = ''] = /^([\w-]{1,100})=/.exec(arg) ?? [];
    return isSecretName(name) ? `${name}=${MASK}` : hide(arg);
  });
}

function isSecretOption(option: string): boolean {
  return SECRET_WORD.test(option) || isSecretName(option);
}

/** An address without its password and the values of its query. */
export function maskedUrl(text: string): string {
  return bareUrl(text, MASK);
}
