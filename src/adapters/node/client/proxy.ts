// Finds the proxy for an address, in the options or the environment.

import { Buffer } from 'node:buffer';
import { BlockList, isIP } from 'node:net';
import { tryDecode } from '../../../protocol/encoding/percent-decoding.js';
import { McpError } from '../../../protocol/errors.js';
import type { NodeHttpOptions } from '../../../transports/http/client/options.js';

export interface HttpProxy {
  /** Without credentials. */
  readonly url: URL;
  /** The source of the setting, for messages. */
  readonly from: string;
  readonly authorization: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for requests to `url`. For a server on this machine only the option counts, not the environment. */
export function proxyFor(
  url: URL,
  option: NodeHttpOptions['proxy'],
  environment: Environment,
): HttpProxy | undefined {
  if (option === false) return undefined;
  if (option !== undefined) return readProxy(String(option), 'the option `proxy`');
  const secure = /^(?:https|wss):$/.test(url.protocol);
  const name = secure ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const setting = readVariable(environment, name);
  if (!setting || isLoopback(hostOf(url)) || isExcepted(url, readVariable(environment, 'NO_PROXY') ?? '')) {
    return undefined;
  }
  return readProxy(setting, `the environment variable ${name}`);
}

// Lower case takes precedence, as with curl. In a CGI program, HTTP_PROXY is a header that any client can send.
function readVariable(environment: Environment, name: string): string | undefined {
  const lower = environment[name.toLowerCase()];
  if (lower !== undefined) return lower;
  return name === 'HTTP_PROXY' && environment['REQUEST_METHOD'] !== undefined ? undefined : environment[name];
}

function readProxy(setting: string, from: string): HttpProxy {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(setting) ? setting : `http://${setting}`;
  if (!URL.canParse(text)) {
    throw new McpError('invalid_request', `The proxy in ${from} is not a valid URL.`);
  }
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new McpError(
      'invalid_request',
      `The proxy in ${from} uses ${url.protocol.slice(0, -1)}, which is not supported: use an http:// or https:// proxy.`,
    );
  }
  const { username, password } = url;
  const credentials = `${tryDecode(username)}:${tryDecode(password)}`;
  const bare = new URL(url.origin);
  return {
    url: bare,
    from,
    authorization:
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`,
  };
}

/** The host without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** The port, or the scheme's default if the URL has none. */
export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
}

function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIP(name) === 4 && name.startsWith('127.'))
  );
}

/** `NO_PROXY` as curl reads it: names with all below them, addresses, networks, each with or without a port, or `*`. */
function isExcepted(url: URL, exceptions: string): boolean {
  const host = hostOf(url).toLowerCase().replace(/\.$/, '');
  const port = String(portOf(url));
  return exceptions.split(/[\s,]+/).some((entry) => entry !== '' && matches(entry.toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInNetwork(entry, host);
  const [name, onlyPort] = splitPort(entry);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const domain = name.replace(/^\*?\./, '').replace(/\.$/, '');
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}

/** `name:port`, `[::1]:port`, or without a port. An IPv6 address without brackets has no port. */
function splitPort(entry: string): [name: string, port: string | undefined] {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry);
  if (bracketed !== null) return [bracketed[1] ?? '', bracketed[2]];
  const colon = entry.indexOf(':');
  if (colon === -1 || entry.includes(':', colon + 1)) return [entry, undefined];
  return [entry.slice(0, colon), entry.slice(colon + 1)];
}

function isInNetwork(entry: string, host: string): boolean {
  const slash = entry.indexOf('/');
  const [network, bits] = [entry.slice(0, slash), Number(entry.slice(slash + 1))];
  const version = isIP(network);
  const most = version === 4 ? 32 : 128;
  if (version === 0 || isIP(host) !== version || !Number.isInteger(bits) || bits < 0 || bits > most)
    return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return list.check(host, family);
}
