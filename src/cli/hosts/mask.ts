// Keeps the secrets of configuration files out of the output.

import type { HostServer } from './shapes.js';

const MASK = '••••';
const SECRET_OPTION = /^--?[\w-]*(?:key|token|secret|password|passwd|auth|credential)[\w-]*/i;

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

/** Text in which the secrets of some servers are masked. */
export function maskedText(text: string, servers: readonly HostServer[]): string {
  const secrets = servers.flatMap(({ env = {}, headers = {}, args = [], url = '' }) => [
    ...Object.values(env),
    ...Object.values(headers),
    ...args.filter((arg, at) => maskedArgs(args)[at] !== arg),
    ...(url !== '' && maskedUrl(url) !== url ? [url] : []),
  ]);
  const longestFirst = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length);
  return longestFirst.reduce((now, secret) => {
    const written = JSON.stringify(secret);
    const both = now.replaceAll(written, `"${MASK}"`).replaceAll(`'${secret}'`, `'${MASK}'`);
    return secret.length < 6 ? both : both.replaceAll(written.slice(1, -1), MASK).replaceAll(secret, MASK);
  }, text);
}

function maskedValues(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(record).map((name) => [name, MASK]));
}

/** `--token x` and `--token=x`. */
function maskedArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => {
    const option = SECRET_OPTION.exec(arg)?.[0];
    if (option !== undefined && arg[option.length] === '=') return `${option}=${MASK}`;
    const before = args[at - 1];
    const isValue =
      before !== undefined && SECRET_OPTION.exec(before)?.[0] === before && !arg.startsWith('-');
    if (isValue) return MASK;
    if (/^https?:\/\//i.test(arg)) return maskedUrl(arg);
    return /^Authorization:|\bBearer /i.test(arg) ? MASK : arg;
  });
}

/** An address without its password and the values of its query. */
export function maskedUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username === '' && url.password === '' && url.search === '') return text;
  const query = [...url.searchParams.keys()].map((name) => `${name}=${MASK}`).join('&');
  const user = url.username === '' && url.password === '' ? '' : `${MASK}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}${query === '' ? '' : `?${query}`}`;
}
