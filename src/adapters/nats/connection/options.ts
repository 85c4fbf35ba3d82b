// The options of a connection to NATS, and the addresses in a URL.

import type { FilledOptions } from '../../../protocol/checks/options.js';
import type { NatsAuthenticator, NatsConnectionLike, NatsTls } from './nats-types.js';

/** The options that say how to reach NATS. */
export interface NatsConnectionOptions {
  /**
   * The address of the NATS server: `nats://user:password@host:4222`, or `tls://` to require TLS. Several hosts are separated by
   * commas. Default: `nats://127.0.0.1:4222`.
   */
  readonly url?: string | URL;
  /** The addresses of several NATS servers, as `host:port`. Used in place of `url`. */
  readonly servers?: readonly string[];
  /** A connection that the program has opened. It is used as it is, and never closed. */
  readonly connection?: NatsConnectionLike;
  /** The text of a credentials file (`.creds`), with its JWT and its seed. */
  readonly credentials?: string;
  /** The token of the NATS server. */
  readonly token?: string;
  /** The name of the user. */
  readonly user?: string;
  /** The password of the user. */
  readonly pass?: string;
  /** The settings of TLS, as the client of NATS takes them. */
  readonly tls?: NatsTls;
  /** Another way to authenticate, as the client of NATS takes it. */
  readonly authenticator?: NatsAuthenticator;
  /** The beginning of the subjects on which answers arrive, for users that may not subscribe to others. Default: `_INBOX`. */
  readonly inboxPrefix?: string;
  /** The longest time that an operation may take, reconnecting included. Default: 5 s. */
  readonly timeoutMs?: number;
}

/** The table of `NatsConnectionOptions`. */
export const connectionTable = {
  url: 'any',
  servers: 'strings',
  connection: 'any',
  credentials: 'string',
  token: 'string',
  user: 'string',
  pass: 'string',
  tls: 'any',
  authenticator: 'any',
  inboxPrefix: 'string',
  timeoutMs: { is: 'count', max: 0x7fffffff, default: 5000 },
} as const;

/** The options of a connection with their defaults. */
export type ConnectionSettings = FilledOptions<NatsConnectionOptions, typeof connectionTable>;

/** The addresses and secrets of a URL, separated, so that no message shows a secret. */
export interface NatsAddress {
  readonly servers: readonly string[];
  readonly isTls: boolean;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  /** The path without its first slash: the name of a service. */
  readonly path: string;
}

const URL_SHAPE = /^(nats|tls):\/\/([^/?#]+)(?:\/([^?#]*))?$/i;

/** Reads a URL. Throws a TypeError, without the URL's secrets, if it is not one of NATS. */
export function readNatsUrl(url: string | URL): NatsAddress {
  const [, scheme = '', hosts = '', path = ''] = URL_SHAPE.exec(String(url)) ?? [];
  if (scheme === '')
    throw new TypeError('The URL of NATS cannot be read. Write nats://host:4222, or tls://host:4222.');
  const parts = hosts.split(',').map((host) => {
    const at = host.lastIndexOf('@');
    return { host: host.slice(at + 1), secret: at === -1 ? undefined : host.slice(0, at) };
  });
  if (parts.some(({ host }) => host === ''))
    throw new TypeError('The URL of NATS has an empty host. Write nats://host:4222.');
  return {
    servers: parts.map(({ host }) => host),
    isTls: scheme.toLowerCase() === 'tls',
    path: decode(path),
    ...readSecret(parts.find(({ secret }) => secret !== undefined)?.secret),
  };
}

/** `user:password`, or a token alone. */
function readSecret(secret: string | undefined): Pick<NatsAddress, 'user' | 'pass' | 'token'> {
  if (secret === undefined) return {};
  const colon = secret.indexOf(':');
  if (colon === -1) return { token: decode(secret) };
  return { user: decode(secret.slice(0, colon)), pass: decode(secret.slice(colon + 1)) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new TypeError('The URL of NATS has a "%" that is not an escape. Write %25 for a "%".');
  }
}

/** The options with the parts of the URL in their places, and with their defaults. */
export interface ResolvedConnection {
  readonly address: NatsAddress;
  readonly options: ConnectionSettings;
  readonly timeoutMs: number;
}

/** Checks the options against each other and reads their URL. Throws a TypeError that says what is wrong. */
export function resolveConnection(options: ConnectionSettings): ResolvedConnection {
  const { url, servers, connection, inboxPrefix, timeoutMs } = options;
  if (inboxPrefix !== undefined) checkInboxPrefix(inboxPrefix);
  const given = Object.entries({ url, servers, connection }).filter(([, value]) => value !== undefined);
  if (given.length > 1)
    throw new TypeError(`Pass only one of the options ${given.map(([name]) => name).join(', ')}.`);
  const address =
    servers === undefined
      ? readNatsUrl(url ?? 'nats://127.0.0.1:4222')
      : {
          servers: servers.flatMap((server) => readNatsUrl(withScheme(server)).servers),
          isTls: false,
          path: '',
        };
  if (address.servers.length === 0) throw new TypeError('The option `servers` is empty. Name a server.');
  return { address, options, timeoutMs };
}

function checkInboxPrefix(prefix: string): void {
  if (/^[A-Za-z0-9_$-]+(?:\.[A-Za-z0-9_$-]+)*$/.test(prefix)) return;
  throw new TypeError(
    '`inboxPrefix` must be words of letters, digits, "_" and "-", separated by dots: "_INBOX_acme".',
  );
}

function withScheme(server: string): string {
  return /^[a-z]+:\/\//i.test(server) ? server : `nats://${server}`;
}
