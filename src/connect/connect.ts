import { checkOptionsOf } from '../client/checks/check-options.js';
import { createClient } from '../client/create-client.js';
import type { Client } from '../client/model/client.js';
import type { Dispatch } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import type { OpenLink, TransportName } from '../protocol/link.js';
import type { HeaderValues } from '../transports/http/client/options.js';
import type { GroupClient } from './group/group.js';
import { Failures } from './open/attempts.js';
import type { Way } from './open/eras.js';
import { overHttp } from './open/http.js';
import { opener } from './open/open-known.js';
import { KnownServers } from './targets/known-servers.js';
import { connectKeys } from './targets/option-keys.js';
import type { ConnectOptions, Host, ScriptProcess } from './targets/options.js';
import type { McpConfig } from './targets/target.js';
import { nameOf, type Place, placeOf, type ServerObject, type Target } from './targets/target.js';

/**
 * Connects to a server, whatever it is and whatever it speaks. The client is ready when the promise resolves; otherwise it
 * rejects with an `McpError` that says what was tried. Without a target, the environment variable MCP_SERVER_URL names the
 * server.
 */
export interface Connect {
  /**
   * Connects to several servers as if they were one, from a config or its `.json` file. Each server is connected when it is
   * first needed, and its tools and prompts are named `server_name`.
   * @example
   * ```ts
   * await using client = await connect({
   *   mcpServers: { files: { command: 'npx', args: ['files-server'] }, web: { url: 'https://example.com/mcp' } },
   * });
   * const { text } = await client.callTool('web_search', { query: 'weather' });
   * ```
   */
  (target: McpConfig | `${string}.json`, options?: ConnectOptions): Promise<GroupClient>;
  /**
   * Connects to a server in the same process, with the types of its tools. The client is ready when the promise resolves.
   * @example
   * ```ts
   * await using client = await connect(server);
   * const sum = await client.tool.add({ a: 1, b: 2 });
   * ```
   */
  <S extends ServerObject>(target: S, options?: ConnectOptions): Promise<Client<S>>;
  /**
   * Connects to a server: a URL, a script, a process, a server object, or an array of targets of which the first that works is
   * taken. The client is ready when the promise resolves; otherwise it rejects with an `McpError` that says what was tried.
   * Without a target, the environment variable MCP_SERVER_URL names the server. `connect<typeof server>` gives `client.tool`
   * the server's types.
   * @example
   * ```ts
   * await using client = await connect('https://example.com/mcp', { auth: 'my-token' });
   * const tools = await client.tools().all();
   * const { text } = await client.callTool('search', { query: 'weather' });
   * ```
   */
  <S = unknown>(target?: Target, options?: ConnectOptions): Promise<Client<S>>;
}

/** Makes a `connect` for a runtime, with a memory of its own for the eras of servers. */
export function makeConnect(host: Host): Connect {
  const remembered = new KnownServers();

  async function connect(target?: Target, options: ConnectOptions = {}): Promise<Client> {
    await checkOptionsOf('connect', options, connectKeys);
    const place = target === undefined ? fromEnvironment(host) : placeOf(target);
    await checkTargets(target);
    return connectTo(place, options);
  }

  async function connectTo(place: Place, options: ConnectOptions): Promise<Client> {
    switch (place.kind) {
      case 'list':
        return firstReady(flat(place.targets), options);
      case 'config':
        return group(place.config, options);
      case 'config-file': {
        const { readConfig = unable('read a file') } = host;
        return group(await readConfig(place.path), options);
      }
      case 'script': {
        const { script = unable('start a process') } = host;
        return connectToScript(await script(place.path), options);
      }
      default:
        return createClient({
          open: openerOf(place, options),
          target: nameOf(place),
          cacheKey: cacheKeyOf(place),
          // A server in the same process is as near as a cache, and always up to date.
          options: place.kind === 'in-process' ? { cache: false, ...options } : options,
          signal: options.signal,
          connectTimeoutMs: options.connectTimeoutMs,
        });
    }
  }

  async function group(config: McpConfig, options: ConnectOptions): Promise<Client> {
    const { connectGroup } = await import('./group/group.js');
    return connectGroup(config, options, connect);
  }

  async function firstReady(places: readonly Place[], options: ConnectOptions): Promise<Client> {
    if (places.length === 0) throw new McpError('invalid_request', 'The list of targets is empty.');
    const failures = new Failures();
    for (const place of places) {
      try {
        return await connectTo(place, options);
      } catch (thrown) {
        const error = failures.add(thrown, { target: nameOf(place), transport: transports[place.kind] });
        if (options.signal?.aborted) throw error;
      }
    }
    throw failures.toError();
  }

  async function connectToScript(
    { hint, ...server }: ScriptProcess,
    options: ConnectOptions,
  ): Promise<Client> {
    try {
      return await connectTo({ kind: 'process', server }, options);
    } catch (error) {
      const advice = McpError.is(error) ? hint?.(error) : undefined;
      if (advice === undefined || !McpError.is(error)) throw error;
      const { code, message, data } = error;
      throw new McpError(code, `${message}\n${advice}`, { data });
    }
  }

  function openerOf(place: OpenPlace, options: ConnectOptions): OpenLink {
    if (place.kind === 'in-process') return inProcess(place.dispatch, options);
    const key = place.kind === 'process' ? processKey(place.server) : nameOf(place);
    return opener(wayTo(place, options), { key, knownServers: options.knownServers ?? remembered, options });
  }

  function wayTo(place: Exclude<OpenPlace, { kind: 'in-process' }>, options: ConnectOptions): Way {
    const over = { target: nameOf(place), probeTimeoutMs: options.probeTimeoutMs ?? 5000 };
    if (place.kind === 'process') {
      const { stderr, maxMessageBytes } = options;
      const limits = maxMessageBytes === undefined ? {} : { maxMessageBytes };
      const server = stderr === undefined ? place.server : { stderr, ...place.server };
      const { openProcess = unable('start a process') } = host;
      return async function overStdio(parts) {
        const { overWire } = await import('./open/wire.js');
        return overWire(() => openProcess(server, limits), { ...over, transport: 'stdio' })(parts);
      };
    }
    const { url } = place;
    const http = withHeaders(options, place.headers);
    if (place.kind === 'http') return overHttp(url, { target: over.target, http, carrier: host.http });
    return async function overSocket(parts) {
      const { overWebSocket } = await import('./open/web-socket.js');
      return overWebSocket(url, { ...over, http, host })(parts);
    };
  }

  return connect as Connect;
}

// Few pages have a server of their own, and what it takes is loaded then.
function inProcess(dispatch: Dispatch, { as }: ConnectOptions): OpenLink {
  return async (_events, open) => {
    const { dispatchLink } = await import('../transports/memory/link.js');
    return dispatchLink(dispatch, { open, as });
  };
}

type OpenPlace = Extract<Place, { kind: 'http' | 'websocket' | 'process' | 'in-process' }>;

const transports: Readonly<Record<Place['kind'], TransportName>> = {
  http: 'http',
  websocket: 'websocket',
  process: 'stdio',
  script: 'stdio',
  'in-process': 'in-process',
  config: 'group',
  'config-file': 'group',
  list: 'list',
};

function flat(targets: readonly Target[]): readonly Place[] {
  return targets.map(placeOf).flatMap((place) => (place.kind === 'list' ? flat(place.targets) : place));
}

/** Finds what a program may have misspelt in a target, before anything is tried. */
async function checkTargets(target: Target | undefined): Promise<void> {
  if (Array.isArray(target)) {
    for (const one of target) await checkTargets(one);
  } else if (
    typeof target === 'object' &&
    !(target instanceof URL) &&
    ('command' in target || 'url' in target)
  ) {
    (await import('./targets/check-target.js')).checkTarget(target);
  }
}

function fromEnvironment({ environment }: Host): Place {
  const url = environment?.()?.['MCP_SERVER_URL'];
  if (!url) throw new McpError('invalid_request', 'There is no target, and MCP_SERVER_URL is not set.');
  const place = placeOf(url);
  if (place.kind === 'http' || place.kind === 'websocket') return place;
  throw new McpError('invalid_request', 'MCP_SERVER_URL must be a URL: http://, https://, ws:// or wss://.');
}

/** Headers that came with the address win over those for every address. */
function withHeaders(options: ConnectOptions, own: HeaderValues | undefined): ConnectOptions {
  if (own === undefined) return options;
  const { headers: given } = options;
  const headers = async (): Promise<[string, string][]> => [
    ...pairs(typeof given === 'function' ? await given() : given),
    ...pairs(own),
  ];
  return { ...options, headers };
}

function pairs(headers: HeaderValues = {}): [string, string][] {
  return headers instanceof Headers || Array.isArray(headers)
    ? [...(headers as Iterable<[string, string]>)]
    : Object.entries(headers as Record<string, string>);
}

/** Servers differ by what their names leave out. Those in this process have no name at all. */
function cacheKeyOf(place: OpenPlace): string | undefined {
  if (place.kind === 'in-process') return undefined;
  if (place.kind !== 'process') return place.url.href;
  return processKey(place.server) + JSON.stringify(place.server.env ?? {});
}

function processKey({ command, args = [], cwd = '' }: ScriptProcess): string {
  return JSON.stringify([cwd, command, ...args]);
}

function unable(what: string): () => Promise<never> {
  return async () => {
    throw new McpError('invalid_request', `A browser cannot ${what}: connect to a URL instead.`);
  };
}
