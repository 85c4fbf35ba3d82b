// `connect`: makes a client of any target.

import { checkOptionsOf } from '../client/checks/check-options.js';
import { createClient } from '../client/create-client.js';
import type { Client } from '../client/model/client.js';
import { McpError } from '../protocol/errors.js';
import type { GroupClient } from './group/group.js';
import { targetsOf, type UsableTarget, useFirst } from './open/first-target.js';
import { linkOpener, unsupported } from './open/opener.js';
import { connectTable } from './targets/option-tables.js';
import type { ConnectOptions, Runtime } from './targets/options.js';
import { type McpConfig, resolveTarget, type ServerObject, type Target } from './targets/target.js';
import { cacheKeyOf, nameOf } from './targets/target-names.js';

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
  const openLinkTo = linkOpener(runtime);

  async function connect(target?: Target, options: ConnectOptions = {}): Promise<Client> {
    await checkOptionsOf('connect', options, connectTable);
    const targets = targetsOf(target === undefined ? fromEnvironment(runtime) : target);
    if (typeof target === 'object' && !(target instanceof URL) && !('dispatch' in target))
      (await import('./targets/check-target.js')).checkTargets(target);
    return useFirst(targets, { runtime, signal: options.signal, use: (one) => connectTo(one, options) });
  }

  async function connectTo(target: UsableTarget, options: ConnectOptions): Promise<Client> {
    switch (target.kind) {
      case 'config':
        return connectToAll(target.config, options);
      case 'config-file': {
        const { readConfig = unsupported('read a file') } = runtime;
        return connectToAll(await readConfig(target.path), options);
      }
      default:
        return createClient({
          open: openLinkTo(target, options),
          target: nameOf(target),
          cacheKey: cacheKeyOf(target),
          // A server in the same process answers as fast as a cache, and is always up to date.
          options: target.kind === 'in-process' ? { cache: false, ...options } : options,
          signal: options.signal,
          connectTimeoutMs: options.connectTimeoutMs,
        });
    }
  }

  async function connectToAll(config: McpConfig, options: ConnectOptions): Promise<Client> {
    const { connectGroup } = await import('./group/group.js');
    return connectGroup(config, options, connect);
  }

  return connect as Connect;
}

function fromEnvironment({ environment }: Runtime): string {
  const url = environment?.()?.['MCP_SERVER_URL'];
  if (!url) throw new McpError('invalid_request', 'There is no target. Pass one, or set MCP_SERVER_URL.');
  if (['http', 'websocket', 'service'].includes(resolveTarget(url).kind)) return url;
  throw new McpError('invalid_request', 'MCP_SERVER_URL must be a URL (https://, wss://, nats://).');
}
