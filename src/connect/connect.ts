// `connect`: makes a client of any target.

import { checkOptionsOf } from '../client/checks/check-options.js';
import { createClient } from '../client/create-client.js';
import type { Client } from '../client/model/client.js';
import type { Dispatch } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import type { OpenLink } from '../protocol/link.js';
import type { HeaderValues } from '../transports/http/client/options.js';
import type { GroupClient } from './group/group.js';
import { Attempts } from './open/attempts.js';
import type { OpenAnyEra } from './open/eras.js';
import { overHttp } from './open/http.js';
import { openKnown } from './open/open-known.js';
import type { ServiceParts } from './open/service.js';
import { KnownServers } from './targets/known-servers.js';
import { connectKeys } from './targets/option-keys.js';
import type { ConnectOptions, Runtime, ScriptProcess } from './targets/options.js';
import {
  type McpConfig,
  type OpenableTarget,
  type ResolvedTarget,
  resolveTarget,
  type ServerObject,
  type ServiceTarget,
  type Target,
} from './targets/target.js';
import { cacheKeyOf, eraKeyOf, nameOf, transportOf } from './targets/target-names.js';

/**
 * Connects to a server, whatever it is and whatever it speaks. The promise resolves to a client that is ready, or rejects with
 * an `McpError` that says what was tried. Without a target, the environment variable MCP_SERVER_URL names the server.
 */
export interface Connect {
  /**
   * Connects to several servers as if they were one, from a config or its `.json` file. Each server is connected when it is
   * first needed. Its tools and prompts have its name as a prefix: `search` of the server `web` is `web_search`.
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
   * Connects to a server: a URL, a script, a process, a server object, the name of a service, or an array of targets, of which the
   * first that works is used. The promise resolves to a client that is ready, or rejects with an `McpError` that says what was tried. Without a
   * target, the environment variable MCP_SERVER_URL names the server. `connect<typeof server>` gives `client.tool` the server's
   * types.
   * @example
   * ```ts
   * await using client = await connect('https://example.com/mcp', { auth: 'my-token' });
   * const tools = await client.tools().all();
   * const { text } = await client.callTool('search', { query: 'weather' });
   * ```
   */
  <S = unknown>(target?: Target, options?: ConnectOptions): Promise<Client<S>>;
}

/** Makes the `connect` of a runtime, with a cache that remembers the era of each server. */
export function makeConnect(runtime: Runtime): Connect {
  const sharedServers = new KnownServers();

  async function connect(target?: Target, options: ConnectOptions = {}): Promise<Client> {
    await checkOptionsOf('connect', options, connectKeys);
    const resolved = target === undefined ? fromEnvironment(runtime) : resolveTarget(target);
    await checkTargets(target);
    return connectTo(resolved, options);
  }

  async function connectTo(resolved: ResolvedTarget, options: ConnectOptions): Promise<Client> {
    switch (resolved.kind) {
      case 'list':
        return connectFirst(flatten(resolved.targets), options);
      case 'config':
        return connectToAll(resolved.config, options);
      case 'config-file': {
        const { readConfig = unsupported('read a file') } = runtime;
        return connectToAll(await readConfig(resolved.path), options);
      }
      case 'script': {
        const { script = unsupported('start a process') } = runtime;
        return connectToScript(await script(resolved.path), options);
      }
      default:
        return createClient({
          open: openLinkTo(resolved, options),
          target: nameOf(resolved),
          cacheKey: cacheKeyOf(resolved),
          // A server in the same process answers as fast as a cache, and is always up to date.
          options: resolved.kind === 'in-process' ? { cache: false, ...options } : options,
          signal: options.signal,
          connectTimeoutMs: options.connectTimeoutMs,
        });
    }
  }

  async function connectToAll(config: McpConfig, options: ConnectOptions): Promise<Client> {
    const { connectGroup } = await import('./group/group.js');
    return connectGroup(config, options, connect);
  }

  async function connectFirst(targets: readonly ResolvedTarget[], options: ConnectOptions): Promise<Client> {
    if (targets.length === 0) throw new McpError('invalid_request', 'The array of targets is empty.');
    const attempts = new Attempts();
    for (const resolved of targets) {
      try {
        return await connectTo(resolved, options);
      } catch (thrown) {
        const error = attempts.add(thrown, {
          target: nameOf(resolved),
          transport: transportOf(resolved),
        });
        if (options.signal?.aborted) throw error;
      }
    }
    throw attempts.toError();
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

  function openLinkTo(resolved: OpenableTarget, options: ConnectOptions): OpenLink {
    if (resolved.kind === 'in-process') return openInProcess(resolved.dispatch, options);
    if (resolved.kind === 'service') return openService(resolved.target, { options, runtime });
    return openKnown(openAnyEraTo(resolved, options), {
      key: eraKeyOf(resolved),
      knownServers: options.knownServers ?? sharedServers,
      options,
    });
  }

  function openAnyEraTo(
    resolved: Exclude<OpenableTarget, { kind: 'in-process' | 'service' }>,
    options: ConnectOptions,
  ): OpenAnyEra {
    const over = { target: nameOf(resolved), probeTimeoutMs: options.probeTimeoutMs ?? 5000 };
    if (resolved.kind === 'process') {
      const { stderr, maxMessageBytes } = options;
      const limits = maxMessageBytes === undefined ? {} : { maxMessageBytes };
      const server = stderr === undefined ? resolved.server : { stderr, ...resolved.server };
      const { openProcess = unsupported('start a process') } = runtime;
      return async function overStdio(events, open) {
        const { overWire } = await import('./open/wire.js');
        return overWire(() => openProcess(server, limits), { ...over, transport: 'stdio' })(events, open);
      };
    }
    const { url } = resolved;
    const http = withHeaders(options, resolved.headers);
    if (resolved.kind === 'http') return overHttp(url, { target: over.target, http, carrier: runtime.http });
    return async function overSocket(events, open) {
      const { overWebSocket } = await import('./open/web-socket.js');
      return overWebSocket(url, { ...over, http, runtime })(events, open);
    };
  }

  return connect as Connect;
}

// Loaded when needed: few web pages have a server in the same process.
function openInProcess(dispatch: Dispatch, { caller }: ConnectOptions): OpenLink {
  return async (_events, open) => {
    const { dispatchLink } = await import('../transports/memory/link.js');
    return dispatchLink(dispatch, { open, caller });
  };
}

function openService(target: ServiceTarget | string, parts: ServiceParts): OpenLink {
  return async (events, open) => {
    const { overService } = await import('./open/service.js');
    return overService(target, parts)(events, open);
  };
}

function flatten(targets: readonly Target[]): readonly ResolvedTarget[] {
  return targets
    .map(resolveTarget)
    .flatMap((resolved) => (resolved.kind === 'list' ? flatten(resolved.targets) : resolved));
}

/** Reports misspelt fields of a target before anything is tried. */
async function checkTargets(target: Target | undefined): Promise<void> {
  if (Array.isArray(target)) {
    for (const item of target) await checkTargets(item);
  } else if (
    typeof target === 'object' &&
    !(target instanceof URL) &&
    ('command' in target || 'url' in target)
  ) {
    (await import('./targets/check-target.js')).checkTarget(target);
  }
}

function fromEnvironment({ environment }: Runtime): ResolvedTarget {
  const url = environment?.()?.['MCP_SERVER_URL'];
  if (!url) throw new McpError('invalid_request', 'There is no target. Pass one, or set MCP_SERVER_URL.');
  const resolved = resolveTarget(url);
  if (resolved.kind === 'http' || resolved.kind === 'websocket' || resolved.kind === 'service')
    return resolved;
  throw new McpError('invalid_request', 'MCP_SERVER_URL must be a URL (https://, wss://, nats://).');
}

/** Headers of the address take precedence over those of the options. */
function withHeaders(options: ConnectOptions, own: HeaderValues | undefined): ConnectOptions {
  if (own === undefined) return options;
  const { headers: shared } = options;
  const headers = async (): Promise<[string, string][]> => [
    ...toPairs(typeof shared === 'function' ? await shared() : shared),
    ...toPairs(own),
  ];
  return { ...options, headers };
}

function toPairs(headers: HeaderValues = {}): [string, string][] {
  return headers instanceof Headers || Array.isArray(headers)
    ? [...(headers as Iterable<[string, string]>)]
    : Object.entries(headers as Record<string, string>);
}

function unsupported(action: string): () => Promise<never> {
  return async () => {
    throw new McpError('invalid_request', `A browser cannot ${action}: connect to a URL instead.`);
  };
}
