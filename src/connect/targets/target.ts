// Targets of `connect`, and the kind of each.

import type { Dispatch } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { Discovery } from '../../protocol/services.js';
import type { HttpLinkOptions } from '../../transports/http/client/link.js';
import type { HeaderValues } from '../../transports/http/client/options.js';
import type { ServerProcess } from '../../transports/stdio/client/spawn.js';

/**
 * Anything that `connect` takes: a URL, the path of a script or of a `.json` config, a process to start, an address with
 * headers, a server in the same process, the name of a service, a config of several servers, or an array of targets to try in
 * order.
 */
export type Target =
  | string
  | URL
  | ServerProcess
  | Address
  | ServerObject
  | Dispatch
  | ServiceTarget
  | McpConfig
  | readonly Target[];

/** A URL with headers of its own. */
export interface Address {
  /** An `https:`, `http:`, `wss:` or `ws:` URL. */
  readonly url: string | URL;
  /** Headers for every request; they replace those of the same name in the options. */
  readonly headers?: HeaderValues;
}

/** A server that is found by its name. */
export interface ServiceTarget {
  /** The name of the service. */
  readonly service: string;
  /** Finds the service. Default: the servers that were registered in this process, then NATS at `MCP_CLUSTER_URL`. */
  readonly discovery?: Discovery;
  /** The time to wait for an instance of the service, if none runs yet. `connectTimeoutMs` applies, too. Default: 0. */
  readonly waitMs?: number;
}

/** A server in the same process. */
export interface ServerObject {
  /** Handles calls. */
  readonly dispatch: Dispatch;
}

/** A target with its kind. */
export type ResolvedTarget =
  | { readonly kind: 'http' | 'websocket'; readonly url: URL; readonly headers?: HeaderValues | undefined }
  | { readonly kind: 'process'; readonly server: ServerProcess }
  /** A path, or a `file:` URL. */
  | { readonly kind: 'script'; readonly path: string }
  | { readonly kind: 'config-file'; readonly path: string }
  | { readonly kind: 'in-process'; readonly dispatch: Dispatch }
  /** A service, or the URL of NATS with the name of one. */
  | { readonly kind: 'service'; readonly target: ServiceTarget | string }
  | { readonly kind: 'config'; readonly config: McpConfig }
  | { readonly kind: 'list'; readonly targets: readonly Target[] };

/** A target that a link can be opened to. */
export type OpenableTarget = Extract<
  ResolvedTarget,
  { kind: 'http' | 'websocket' | 'process' | 'in-process' | 'service' }
>;

/** Finds out the kind of a target from its value alone, without opening or reading anything. */
export function resolveTarget(target: Target): ResolvedTarget {
  if (typeof target === 'string') return resolveString(target);
  if (typeof target === 'function') return { kind: 'in-process', dispatch: target };
  if (target instanceof URL) return resolveUrl(target);
  if (Array.isArray(target)) return { kind: 'list', targets: target as readonly Target[] };
  if (typeof target !== 'object' || target === null) throw notTarget(`${String(target)} is not a target.`);
  if ('dispatch' in target) return { kind: 'in-process', dispatch: target.dispatch };
  if ('command' in target) return { kind: 'process', server: target };
  if ('service' in target) return { kind: 'service', target };
  if ('mcpServers' in target) return { kind: 'config', config: target };
  if ('url' in target) return resolveUrl(target.url, target.headers);
  throw notTarget('That object is not a target.');
}

const URL_SCHEME = /^(?:https?|wss?|file|nats|tls):/i;
const SCRIPT = /\.[cm]?[jt]s$|\.py$/i;
/** An address whose scheme was left out: a host with a port, or a host name with a dot and a path. */
const NO_SCHEME =
  /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*:\d{1,5}(?:\/\S*)?|localhost\/\S*|[a-z0-9-]+(?:\.[a-z0-9-]+)+\/\S*)$/i;
const LOCAL = /^(?:localhost|127\.|0\.0\.0\.0)/i;

function resolveString(text: string): ResolvedTarget {
  if (URL_SCHEME.test(text)) return resolveUrl(text);
  if (SCRIPT.test(text)) return { kind: 'script', path: text };
  if (/\.json$/i.test(text)) return { kind: 'config-file', path: text };
  const [command, ...args] = text.trim().split(/\s+/);
  if (args.length > 0) {
    const list = args.map((arg) => `'${arg}'`).join(', ');
    throw notTarget(
      `A command line is not split into arguments: write { command: '${command}', args: [${list}] }.`,
    );
  }
  rejectWithoutScheme(text);
  throw notTarget(`"${shorten(text, 200)}" is not a target.`);
}

function rejectWithoutScheme(text: string): void {
  if (text.length > 200 || !NO_SCHEME.test(text)) return;
  const scheme = LOCAL.test(text) ? 'http' : 'https';
  throw new McpError('invalid_request', `"${text}" has no scheme. Write ${scheme}://${text}`);
}

function resolveUrl(value: string | URL, headers?: HeaderValues): ResolvedTarget {
  // A URL of NATS may have several hosts.
  if (/^(?:nats|tls):/i.test(String(value))) return { kind: 'service', target: String(value) };
  const url = parseUrl(value);
  if (/^https?:$/.test(url.protocol)) return { kind: 'http', url, headers };
  if (/^wss?:$/.test(url.protocol)) return { kind: 'websocket', url, headers };
  if (url.protocol === 'file:') {
    const kind = /\.json$/i.test(url.pathname) ? 'config-file' : 'script';
    return { kind, path: url.href };
  }
  rejectWithoutScheme(String(value));
  throw notTarget(`"${url.protocol}" URLs are not targets.`);
}

function parseUrl(url: string | URL): URL {
  try {
    return new URL(url);
  } catch {
    throw notTarget('The URL is not valid.');
  }
}

function notTarget(why: string): McpError {
  return new McpError(
    'invalid_request',
    `${why} A target is a URL (https://, wss://, nats://), { command, args }, a script (.js, .ts, .py), an mcpServers config or its .json file, a server object, or an array of those.`,
  );
}

/** Several servers by name, in the shape of the config files of Claude Desktop, Cursor and other programs. */
export interface McpConfig {
  /** The servers by name: up to 64 letters, digits, `_` and `-`. Tools and prompts have the name of their server as a prefix. */
  readonly mcpServers: Readonly<Record<string, ServerEntry>>;
}

/** One server of a config: a process, an address, or a target. Fields that other programs add are ignored. */
export type ServerEntry = (ProcessEntry | AddressEntry | TargetEntry) & {
  /** Leaves the server out. Default: false. */
  readonly disabled?: boolean;
};

/** A server that is started as a process. */
interface ProcessEntry extends Pick<ServerProcess, 'command' | 'args' | 'env' | 'cwd'> {
  /** Ignored: `command` is sufficient. */
  readonly type?: string;
}

/** A server at a URL. */
interface AddressEntry {
  /** An `https:`, `http:`, `wss:` or `ws:` URL. */
  readonly url: string;
  /** Headers for every request to this server. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A bearer token for this server, a function that returns one, or an object that logs in, such as `oauth()` makes. */
  readonly auth?: HttpLinkOptions['auth'];
  /** The authorities to trust for this server, as PEM text or paths of files. */
  readonly ca?: HttpLinkOptions['ca'];
  /** The client's own certificate for this server, as PEM text or the path of a file. */
  readonly cert?: HttpLinkOptions['cert'];
  /** The private key of `cert`. */
  readonly key?: HttpLinkOptions['key'];
  /** Ignored: the client finds out what the server speaks. */
  readonly type?: string;
}

/** A server in the form that `connect` takes, such as a server object in the same process. */
interface TargetEntry {
  /** Anything that `connect` takes. */
  readonly target: Target;
}
