// Finds services over NATS and connects to them.

import { fillDefaults, type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { OpenLink } from '../../protocol/link.js';
import type {
  Discovery,
  OpenServiceOptions,
  RegisteredService,
  ServiceInstance,
} from '../../protocol/services.js';
import { discover } from '../../transports/client/discover.js';
import { exchangeLink } from '../../transports/client/exchange-link.js';
import { natsExchange } from './client/exchange.js';
import { findInstances } from './client/find-instances.js';
import { loadTransport } from './connection/load.js';
import { NatsSource } from './connection/open.js';
import { connectionTable, type NatsConnectionOptions, readNatsUrl } from './connection/options.js';
import { checkPrefix } from './connection/subjects.js';
import { linkSubjects } from './link/subjects.js';
import { type NatsServiceOptions, serviceTable } from './server/options.js';
import { startService } from './server/serve.js';

/** The options of `natsDiscovery`. */
export interface NatsDiscoveryOptions extends NatsConnectionOptions {
  /** The beginning of the subjects of services. Servers need the same. Default: `mcp`. */
  readonly prefix?: string;
  /** The time that `list` waits for answers, and `find` at most. Default: 500 ms. */
  readonly waitMs?: number;
  /**
   * The time between two signs of life while calls are open. Servers need the same. An instance that was killed is noticed after
   * one, an instance that was stopped after three. Default: 2 s.
   */
  readonly keepAliveMs?: number;
  /** The largest message that is sent or read, in bytes. Default: 16 MB. */
  readonly maxMessageBytes?: number;
}

const optionTable = {
  ...connectionTable,
  prefix: serviceTable.prefix,
  waitMs: { is: 'count', default: 500 },
  keepAliveMs: serviceTable.keepAliveMs,
  maxMessageBytes: serviceTable.maxMessageBytes,
} as const satisfies OptionTable<NatsDiscoveryOptions>;

/**
 * Finds services over NATS, for `connect({ service: 'name', discovery })`. All links share one connection.
 * @example
 * ```ts
 * const discovery = natsDiscovery({ url: 'nats://localhost:4222' });
 * const names = (await discovery.list()).map(({ name }) => name);
 * await using client = await connect({ service: 'weather', discovery });
 * ```
 */
export function natsDiscovery(options: NatsDiscoveryOptions = {}): Discovery {
  const read = readOptions('natsDiscovery', options, optionTable);
  const { prefix, waitMs, keepAliveMs, maxMessageBytes, ...connection } = read;
  checkPrefix(prefix);
  const source = new NatsSource(connection, 'fullmcp discovery');
  const registered = new Set<RegisteredService>();

  async function ask(name: string | undefined): Promise<readonly ServiceInstance[]> {
    return findInstances(await source.get(), {
      inbox: await source.newInbox(),
      prefix,
      waitMs,
      isOneEnough: name !== undefined,
      ...(name !== undefined && { name }),
    });
  }

  function open(name: string, { headers, maxMessageBytes: ownMax }: OpenServiceOptions = {}): OpenLink {
    const subjects = linkSubjects(name, prefix);
    return async function openOverNats(events, open) {
      const client = await source.get();
      // A request that is sent while the connection is being reopened would be lost.
      if (!client.isUp) await client.persist('The service cannot be reached', () => client.flush());
      const { headers: newHeaders } = await loadTransport();
      const exchange = natsExchange({
        client,
        subjects,
        inbox: await source.newInbox(),
        newHeaders,
        headers,
        maxMessageBytes: ownMax ?? maxMessageBytes,
        keepAliveMs,
      });
      let isOpen = false;
      exchange.listen({
        // A server of this era sends no requests, and every notification belongs to a request.
        request: () => Promise.reject(new Error('Not a method of a client')),
        notification: () => undefined,
        problem: events.problem,
        closed: (reason) => {
          if (isOpen) events.lost(reason);
        },
      });
      try {
        const { revision, discovered } = await discover(exchange, open);
        isOpen = true;
        return exchangeLink(exchange, { transport: 'nats', revision, discovered });
      } catch (error) {
        await exchange.close();
        throw error;
      }
    };
  }

  return {
    async register(server, { service } = {}) {
      const own: NatsServiceOptions = {
        prefix,
        keepAliveMs,
        maxMessageBytes,
        ...(service !== undefined && { service }),
      };
      const serving = await startService(server, source, fillDefaults(own, serviceTable));
      registered.add(serving);
      const close = async (): Promise<void> => {
        registered.delete(serving);
        await serving.close();
      };
      return { ...serving, close, [Symbol.asyncDispose]: close };
    },
    list: () => ask(undefined),
    async find(name) {
      const [first] = await ask(name);
      return first;
    },
    open,
    async close() {
      await Promise.all([...registered].map((serving) => serving.close()));
      await source.close();
    },
  };
}

/** The service that a URL names, and a discovery with a connection of its own. */
export function natsTarget(url: string): { readonly service: string; readonly discovery: Discovery } {
  return { service: readNatsUrl(url).path, discovery: natsDiscovery({ url }) };
}
