import { quote } from '../../../protocol/encoding/shorten.js';
import type { HeaderFields, Incoming } from './incoming.js';
import { noHeaders } from './reply.js';

// Decides which requests this endpoint accepts, by the host they are addressed to and the web page that sends them.

/** Turns off the check of the Host header, for `allowedHosts`. Only for a server behind a proxy that checks it. */
export const unsafeAnyHost: unique symbol = Symbol('fullmcp.unsafeAnyHost');
/** Lets the pages of any website call this server, for `allowedOrigins`. Only for public data. */
export const unsafeAnyOrigin: unique symbol = Symbol('fullmcp.unsafeAnyOrigin');

/** The hosts and web pages that may call an HTTP endpoint. */
export interface GuardOptions {
  /**
   * The host names that requests may be addressed to, without the port. Loopback names and the host of `publicUrl` are always
   * allowed, and so are IP addresses and, over TLS, all names on connections from other machines. Other requests are refused
   * with 403.
   */
  readonly allowedHosts?: readonly string[] | typeof unsafeAnyHost;
  /**
   * The origins of web pages that may call, such as `https://app.example.com`. Pages of the server's own host are always
   * allowed; those of other origins are refused with 403.
   */
  readonly allowedOrigins?: readonly string[] | typeof unsafeAnyOrigin;
  /** The address of the endpoint as clients see it. Its host and origin are allowed. */
  readonly publicUrl?: string | undefined;
}

export interface Guard {
  /** Why the request is refused, or undefined. */
  readonly refuse: (incoming: Incoming) => string | undefined;
  /** The headers that let the calling page read the answer. */
  readonly cors: (incoming: Incoming) => HeaderFields;
  readonly preflight: (incoming: Incoming) => HeaderFields;
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/** Distinct refusals that are reported. A peer chooses the hosts, so that there is an end to it. */
const MAX_REPORTED = 20;

/** Throws an error that begins with `what` where a public URL is not one. */
export function checkPublicUrl(url: unknown, what: string): URL {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed;
  throw new TypeError(
    `${what} must be a URL such as "https://mcp.example.com/mcp", but it is ${JSON.stringify(url)}.`,
  );
}

/** Refuses requests that are addressed to another host or come from another page; each kind is reported once to `warn`. */
export function createGuard(options: GuardOptions, warn?: (message: string) => void): Guard {
  const { allowedHosts = [], allowedOrigins = [] } = options;
  const publicUrl =
    options.publicUrl === undefined ? undefined : checkPublicUrl(options.publicUrl, '"publicUrl"');
  const hosts = new Set(allowedHosts === unsafeAnyHost ? [] : allowedHosts.map((host) => host.toLowerCase()));
  if (publicUrl) hosts.add(publicUrl.hostname);
  const origins = new Set(allowedOrigins === unsafeAnyOrigin ? [] : allowedOrigins.map(toOrigin));
  if (publicUrl) origins.add(publicUrl.origin);

  // Anyone who owns a name can make it point at this machine (DNS rebinding). Nobody can do that with an address, nor
  // with a name that a certificate was checked for; and what came in over loopback was addressed to loopback.
  function isReached(host: string, { secure, local }: Incoming): boolean {
    return !local && (secure || isAddress(host));
  }

  /** Whether a host is allowed on every kind of connection. */
  function isNamed(host: string): boolean {
    if (allowedHosts === unsafeAnyHost) return true;
    return loopback.has(host) || host.endsWith('.localhost') || hosts.has(host);
  }

  function knownOrigin(origin: string, host: string): boolean {
    if (allowedOrigins === unsafeAnyOrigin || origins.has(origin)) return true;
    const name = hostOfOrigin(origin);
    return name !== undefined && (name === host || (loopback.has(host) && loopback.has(name)));
  }

  // The same host comes with nearly every request: it is read once, and judged once where the connection does not matter.
  let last: { readonly header: string; readonly host: string; readonly named: boolean } | undefined;

  /** The host that a request is addressed to, or undefined where it may not be. */
  function allowedHost(header: string | undefined, incoming: Incoming): string | undefined {
    if (header === undefined) return undefined;
    if (header !== last?.header) {
      const host = hostOf(header);
      if (host === undefined) return undefined;
      last = { header, host, named: isNamed(host) };
    }
    return last.named || isReached(last.host, incoming) ? last.host : undefined;
  }

  const told = new Set<string>();
  function reported(refusal: string): string {
    if (warn !== undefined && told.size < MAX_REPORTED && !told.has(refusal)) {
      told.add(refusal);
      warn(refusal);
    }
    return refusal;
  }

  return {
    refuse(incoming) {
      const header = incoming.header('host');
      const origin = incoming.header('origin');
      const host = allowedHost(header, incoming);
      if (host === undefined) {
        return reported(
          `Host ${shown(header)} is not allowed. If it is yours, add it to allowedHosts, or to MCP_ALLOWED_HOSTS, without the port.`,
        );
      }
      if (origin !== undefined && !knownOrigin(origin, host)) {
        return reported(
          `Origin ${shown(origin)} is not allowed. If its pages may call this server, add it to allowedOrigins, or to MCP_ALLOWED_ORIGINS.`,
        );
      }
      return undefined;
    },
    cors(incoming) {
      const origin = incoming.header('origin');
      if (origin === undefined) return noHeaders;
      return {
        'access-control-allow-origin': origin,
        vary: 'Origin',
        'access-control-expose-headers': exposed,
      };
    },
    preflight(incoming) {
      // Only pages of allowed origins come this far: they may send headers of their own.
      const asked = (incoming.header('access-control-request-headers') ?? '').toLowerCase().split(',');
      const granted = asked
        .map((name) => name.trim())
        .filter((name) => /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name));
      return {
        ...this.cors(incoming),
        'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
        'access-control-allow-headers':
          granted.length > 0 ? granted.slice(0, 100).join(', ') : usable.join(', '),
        'access-control-max-age': '86400',
      };
    },
  };
}

const exposed = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate';
const usable = [
  'accept',
  'authorization',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'traceparent',
  'tracestate',
];

/** The host of `host:port`, in lower case; an IPv6 address keeps its brackets. Undefined where it is anything else. */
function hostOf(header: string): string | undefined {
  // A URL may have more in it than a host and a port, and drops some white space without a word.
  if (header === '' || /[^A-Za-z0-9._:[\]-]/.test(header)) return undefined;
  const url = `http://${header}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** The host of an origin as browsers write it, which has a scheme, a host, a port, and nothing else. */
function hostOfOrigin(origin: string): string | undefined {
  if (!URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  return url.origin === origin ? url.hostname : undefined;
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

// A scheme that URLs know nothing of, such as an editor's or an extension's, has the origin "null" there, which is anybody's.
function toOrigin(text: string): string {
  const origin = URL.canParse(text) && text.includes('://') ? new URL(text).origin : 'null';
  return origin === 'null' ? text : origin;
}

function shown(value: string | undefined): string {
  return value === undefined ? '(none)' : quote(value, 100);
}
