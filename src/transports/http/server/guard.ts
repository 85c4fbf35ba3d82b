import { quote } from '../../../protocol/encoding/shorten.js';
import { type HeaderFields, type Incoming, noHeaders } from './incoming.js';

/** Turns off the check of the Host header, for `allowedHosts`. Only for a server behind a proxy that checks it. */
export const unsafeAnyHost: unique symbol = Symbol('fullmcp.unsafeAnyHost');
/** Lets the pages of any website call this server, for `allowedOrigins`. Only for public data. */
export const unsafeAnyOrigin: unique symbol = Symbol('fullmcp.unsafeAnyOrigin');

/** The hosts and web pages that may call an HTTP endpoint. */
export interface GuardOptions {
  /**
   * The host names that requests may be addressed to, without the port. Loopback names and the host of `publicUrl` are always
   * allowed. On connections that do not come in over loopback, IP addresses are allowed too, and over TLS every name. Other
   * requests are refused with 403. Default: `MCP_ALLOWED_HOSTS` with `serve`, otherwise none.
   */
  readonly allowedHosts?: readonly string[] | typeof unsafeAnyHost;
  /**
   * The origins of web pages that may call, such as `https://app.example.com`. Pages of the server's own host are always
   * allowed; those of other origins are refused with 403. Default: `MCP_ALLOWED_ORIGINS` with `serve`, otherwise none.
   */
  readonly allowedOrigins?: readonly string[] | typeof unsafeAnyOrigin;
  /**
   * The URL of the endpoint as clients see it. Its host and origin are allowed. Default: `MCP_PUBLIC_URL` with `serve`, otherwise
   * none.
   */
  readonly publicUrl?: string | undefined;
}

export interface Guard {
  /** Why the request is refused for its host, or undefined. For documents that the pages of any website may read. */
  readonly refuseHost: (incoming: Incoming) => string | undefined;
  /** Why the request is refused, or undefined. */
  readonly refuse: (incoming: Incoming) => string | undefined;
  /** The headers that let the calling page read the reply. */
  readonly cors: (incoming: Incoming) => HeaderFields;
  readonly preflight: (incoming: Incoming) => HeaderFields;
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/** The limit of refusals that are reported. Peers choose the host names, so there is no end to them. */
const MAX_REPORTED = 20;

/** Throws an error that begins with `what` if a public URL is not a URL of HTTP. */
export function checkPublicUrl(url: unknown, what: string): URL {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed;
  throw new TypeError(
    `${what} must be a URL such as "https://mcp.example.com/mcp", but it is ${JSON.stringify(url)}.`,
  );
}

/** The parts of a guard. */
export interface GuardParts {
  /** Called once with each kind of refusal. */
  readonly warn?: ((message: string) => void) | undefined;
  /** Whether the endpoint has `auth`, whose metadata names its address. Default: false. */
  readonly hasAuth?: boolean;
}

/**
 * Decides which requests are accepted, by the host that they are addressed to and the web page that sends them. Each kind of
 * refusal is reported once to `warn`.
 */
export function createGuard(options: GuardOptions, { warn, hasAuth = false }: GuardParts = {}): Guard {
  const { allowedHosts = [], allowedOrigins = [] } = options;
  const publicUrl =
    options.publicUrl === undefined ? undefined : checkPublicUrl(options.publicUrl, '"publicUrl"');
  const hosts = new Set(allowedHosts === unsafeAnyHost ? [] : allowedHosts.map((host) => host.toLowerCase()));
  if (publicUrl) hosts.add(publicUrl.hostname);
  const origins = new Set(allowedOrigins === unsafeAnyOrigin ? [] : allowedOrigins.map(toOrigin));
  if (publicUrl) origins.add(publicUrl.origin);

  // DNS rebinding: the owner of a name can make it point at this machine. That is impossible with an address, and with a name
  // that a certificate was checked for. A request that came in over loopback must be addressed to loopback.
  function cannotBeRebound(host: string, { secure, local }: Incoming): boolean {
    return !local && (secure || isAddress(host));
  }

  /** Whether a host is allowed on every kind of connection. */
  function isAllowedName(host: string): boolean {
    if (allowedHosts === unsafeAnyHost) return true;
    return loopback.has(host) || host.endsWith('.localhost') || hosts.has(host);
  }

  function isAllowedOrigin(origin: string, host: string): boolean {
    if (allowedOrigins === unsafeAnyOrigin || origins.has(origin)) return true;
    const name = hostOfOrigin(origin);
    return name !== undefined && (name === host || (loopback.has(host) && loopback.has(name)));
  }

  // Nearly every request has the same Host header, so the last one is cached.
  let last: { readonly header: string; readonly host: string; readonly isAllowed: boolean } | undefined;

  /** The host that a request is addressed to, or undefined if that host is not allowed. */
  function allowedHost(header: string | undefined, incoming: Incoming): string | undefined {
    if (header === undefined) return undefined;
    if (header !== last?.header) {
      const host = hostOf(header);
      if (host === undefined) return undefined;
      last = { header, host, isAllowed: isAllowedName(host) };
    }
    return last.isAllowed || cannotBeRebound(last.host, incoming) ? last.host : undefined;
  }

  const reports = new Set<string>();
  function report(refusal: string): string {
    if (warn !== undefined && reports.size < MAX_REPORTED && !reports.has(refusal)) {
      reports.add(refusal);
      warn(refusal);
    }
    return refusal;
  }

  function reportHost(header: string | undefined): string {
    if (hasSeveral(header)) return report('The request has more than one Host header.');
    const host = toDisplay(header);
    // With `allowedHosts` alone, the metadata for logins would have another address than the one that clients use.
    return report(
      hasAuth && publicUrl === undefined
        ? `Host ${host} is not allowed. If it is yours, set publicUrl, or MCP_PUBLIC_URL, to the address that clients use. The metadata for logins names it, too.`
        : `Host ${host} is not allowed. If it is yours, add it to allowedHosts, or to MCP_ALLOWED_HOSTS, without the port.`,
    );
  }

  return {
    refuseHost(incoming) {
      const header = incoming.header('host');
      return allowedHost(header, incoming) === undefined ? reportHost(header) : undefined;
    },
    refuse(incoming) {
      const header = incoming.header('host');
      const origin = incoming.header('origin');
      const host = allowedHost(header, incoming);
      if (host === undefined) return reportHost(header);
      if (origin !== undefined && !isAllowedOrigin(origin, host)) {
        return report(
          `Origin ${toDisplay(origin)} is not allowed. If its pages may call this server, add it to allowedOrigins, or to MCP_ALLOWED_ORIGINS.`,
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
        'access-control-expose-headers': exposedHeaders,
      };
    },
    preflight(incoming) {
      // Only pages of allowed origins get here, and they may send any header.
      const requestedNames = (incoming.header('access-control-request-headers') ?? '')
        .toLowerCase()
        .split(',');
      const allowedNames = requestedNames
        .map((name) => name.trim())
        .filter((name) => /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name));
      return {
        ...this.cors(incoming),
        'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
        'access-control-allow-headers':
          allowedNames.length > 0 ? allowedNames.slice(0, 100).join(', ') : usualHeaders.join(', '),
        'access-control-max-age': '86400',
      };
    },
  };
}

const exposedHeaders = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce';
const usualHeaders = [
  'accept',
  'authorization',
  'content-type',
  'dpop',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'traceparent',
  'tracestate',
];

/** The host of `host:port`, in lower case; an IPv6 address keeps its brackets. Undefined if the header has any other form. */
function hostOf(header: string): string | undefined {
  // A URL can contain more than a host and a port, and its parser silently drops some white space.
  if (header === '' || /[^A-Za-z0-9._:[\]-]/.test(header)) return undefined;
  const url = `http://${header}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** The host of an origin, which has a scheme, a host, a port, and nothing else. */
function hostOfOrigin(origin: string): string | undefined {
  if (!URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  return url.origin === origin ? url.hostname : undefined;
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

// For a scheme that URLs do not know, such as that of an editor or an extension, a URL has the origin "null", which would match
// every such page.
function toOrigin(text: string): string {
  const origin = URL.canParse(text) && text.includes('://') ? new URL(text).origin : 'null';
  return origin === 'null' ? text : origin;
}

/** The status of a request that the guard refuses. RFC 9112, 3.2: several Host headers are a bad request. */
export function refusalStatus(incoming: Incoming): 400 | 403 {
  return hasSeveral(incoming.header('host')) ? 400 : 403;
}

function hasSeveral(header: string | undefined): boolean {
  return header?.includes(',') === true;
}

function toDisplay(value: string | undefined): string {
  return value === undefined ? '(none)' : quote(value, 100);
}
