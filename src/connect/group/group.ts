// One client of several servers.

import { createClient } from '../../client/create-client.js';
import type { Client } from '../../client/model/client.js';
import { McpError } from '../../protocol/errors.js';
import type { LinkEvents, OpenLink } from '../../protocol/link.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { checkConfig } from '../config/check.js';
import { entryTarget } from '../config/entry-target.js';
import { discoveredOf } from '../routing/discover.js';
import { routingDispatch } from '../routing/dispatch.js';
import type { ConnectOptions } from '../targets/options.js';
import type { McpConfig, ServerEntry, Target } from '../targets/target.js';
import { type GroupInfo, groupInfo } from './group-info.js';
import type { ServerState } from './member.js';
import { Membership } from './members.js';
import { askThrough } from './questions.js';

/**
 * A client of several servers. Tools and prompts have the name of their server as a prefix, as in `web_search`; resources keep
 * their URIs. A server that fails is left out of lists and reported as a `problem`.
 */
export interface GroupClient extends Client {
  /** The current state of each server, by name. */
  readonly servers: ReadonlyMap<string, ServerState>;
  /** Returns the state of the client and of each server as JSON, for logs and diagnostics. */
  readonly info: () => GroupInfo;
  /** Returns the client of one server, and connects it first if needed. Fails with `invalid_params` for an unknown name. */
  readonly member: (name: string) => Promise<Client>;
  /** Adds a server, which is connected when it is first needed. Subscribers are notified that the lists changed. */
  readonly add: (name: string, entry: ServerEntry) => void;
  /** Closes a server and removes it: open calls on it fail with `connection_closed`. Does nothing for an unknown name. */
  readonly remove: (name: string) => Promise<void>;
}

export type ConnectOne = (target: Target, options: ConnectOptions) => Promise<Client>;

/** Makes one client of several servers. Each server is connected when it is first needed. */
export async function connectGroup(
  config: McpConfig,
  options: ConnectOptions,
  connectOne: ConnectOne,
): Promise<GroupClient> {
  const { mcpServers } = checkConfig(config);
  rejectSecrets(options);
  let group!: Membership;

  const open: OpenLink = async (events) => {
    group = new Membership({
      events,
      open: (entry, signal) =>
        connectMember(entry, { ...memberOptions(options, events), signal }, connectOne),
      // A list must be complete before its own timeout, even if one member hangs.
      attemptMs: Math.min(options.timeoutMs ?? 60_000, 60_000) / 2,
    });
    for (const [name, entry] of Object.entries(mcpServers)) group.add(name, entry);
    return {
      dispatch: routingDispatch(group),
      revision: newestRevision,
      transport: 'group',
      filtersSubscriptions: true,
      serverOf: (settled) => group.serverOf(settled),
      get discovered() {
        return discoveredOf(group);
      },
      close: () => group.close(),
    };
  };

  // Members retry, cache and reconnect for themselves, and have the extensions; the group's client must not do it a second time.
  const own = { ...options, extensions: [], reconnect: false, cache: false, maxRetries: 0 } as const;
  const target = `the servers ${Object.keys(mcpServers).join(', ')}`;
  const client = await createClient({ open, target, options: own, signal: options.signal });
  const { info } = client;
  return Object.defineProperties(client, {
    servers: {
      enumerable: true,
      get: () => new Map([...group.members].map(([name, member]) => [name, member.state])),
    },
    member: { enumerable: true, value: async (name: string) => group.get(name).connect() },
    add: { enumerable: true, value: (name: string, entry: ServerEntry) => group.add(name, entry) },
    remove: { enumerable: true, value: (name: string) => group.remove(name) },
    info: { enumerable: true, value: () => groupInfo(info(), group) },
    rootsChanged: { enumerable: true, value: () => rootsChanged(group) },
  }) as GroupClient;
}

/** The options of a member: all but those that only the group's own client has, such as middleware and cache. */
function memberOptions(options: ConnectOptions, events: LinkEvents): ConnectOptions {
  const { use, onLog, logLevel, progress, signal, known, elicit, sample, roots, cache, ...shared } = options;
  return {
    ...shared,
    ...askThrough(events, { ...(elicit && { elicit }), ...(sample && { sample }), ...(roots && { roots }) }),
    // Each member has a cache of its own, if any.
    ...(cache === false && { cache }),
  };
}

function connectMember(entry: ServerEntry, options: ConnectOptions, connectOne: ConnectOne): Promise<Client> {
  const { target, options: own } = entryTarget(entry);
  return connectOne(target, { ...options, ...own });
}

// Credentials for one server must not be sent to all of them.
function rejectSecrets(options: ConnectOptions): void {
  const option = (['auth', 'headers', 'cert', 'key'] as const).find((name) => options[name] !== undefined);
  if (option === undefined) return;
  throw new McpError(
    'invalid_request',
    `The option \`${option}\` would be sent to every server of the config. Set it on the server that it is for: { url, ${option} }.`,
  );
}

async function rootsChanged({ members }: Membership): Promise<void> {
  await Promise.all([...members.values()].map(({ client }) => client?.rootsChanged()));
}
