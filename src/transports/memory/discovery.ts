import type { JsonObject } from '../../jsonrpc/message.js';
import { checkOptions, type OptionTable } from '../../protocol/checks/options.js';
import { McpError } from '../../protocol/errors.js';
import type {
  DiscoverableServer,
  Discovery,
  RegisteredService,
  RegisterOptions,
  ServiceInstance,
} from '../../protocol/services.js';
import { modernRevisions } from '../../protocol/tables/features.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { dispatchLink } from './link.js';

/** The most pages of tools that are read for the description of an instance. */
const MAX_PAGES = 20;

interface LocalInstance {
  readonly server: DiscoverableServer;
  readonly name: string;
  readonly id: string;
  readonly startedAt: string;
}

/** Makes a discovery for the servers of this process. */
export function memoryDiscovery(): Discovery {
  const instances = new Map<string, LocalInstance>();

  async function describe({ server, name, id, startedAt }: LocalInstance): Promise<ServiceInstance> {
    const { version, title } = server.info;
    const tools = await toolNames(server);
    return {
      ...{ name, id, version, title, tools, startedAt },
      revisions: modernRevisions,
      transports: ['in-process'],
      node: 'this process',
    };
  }

  function named(name: string): LocalInstance | undefined {
    return [...instances.values()].find((instance) => instance.name === name);
  }

  return {
    async register(server, { service = server.info.name } = {}): Promise<RegisteredService> {
      const id = crypto.randomUUID();
      instances.set(id, { server, name: service, id, startedAt: new Date().toISOString() });
      const close = async (): Promise<void> => void instances.delete(id);
      return { service, id, close, [Symbol.asyncDispose]: close };
    },
    list: () => Promise.all([...instances.values()].map(describe)),
    async find(name) {
      const instance = named(name);
      return instance && describe(instance);
    },
    open:
      (name, { caller } = {}) =>
      async (_events, open) => {
        const instance = named(name);
        if (instance === undefined)
          throw new McpError(
            'connect_failed',
            `No server with the name "${name}" is registered in this process.`,
          );
        return dispatchLink(instance.server.dispatch, { open, caller });
      },
    async close() {
      instances.clear();
    },
  };
}

/** The names of the tools that an anonymous caller of a server sees. */
export async function toolNames({ dispatch }: DiscoverableServer): Promise<readonly string[]> {
  const peer = { revision: newestRevision, client: undefined, capabilities: {}, logLevel: undefined };
  const { signal } = new AbortController();
  const names: string[] = [];
  let params: JsonObject = {};
  for (let page = 0; page < MAX_PAGES; page++) {
    const outcome = await dispatch({ id: page, method: 'tools/list', params, peer, signal, notify() {} });
    const { tools, nextCursor: cursor } = outcome as {
      tools?: readonly { name: string }[];
      nextCursor?: string;
    };
    names.push(...(tools ?? []).map(({ name }) => name));
    if (cursor === undefined) break;
    params = { cursor };
  }
  return names;
}

/**
 * Makes a server available by its name in this process: `connect({ service: 'name' })`.
 * @example
 * ```ts
 * await registerService(server);
 * await using client = await connect({ service: 'weather' });
 * ```
 */
export async function registerService(
  server: DiscoverableServer,
  given: RegisterOptions & FindServiceOptions = {},
): Promise<RegisteredService> {
  checkOptions('registerService', given, { ...findTable, service: 'string' });
  const { discovery = processDiscovery, ...options } = given;
  return discovery.register(server, options);
}

/** The servers of this process that were registered with `registerService`. */
export const processDiscovery: Discovery = /* @__PURE__ */ memoryDiscovery();

/** The options of `listServices`, `findService` and `serviceAvailable`. */
export interface FindServiceOptions {
  /** Where to look. Default: the servers that were registered in this process. */
  readonly discovery?: Discovery;
}

const findTable = { discovery: 'object' } as const satisfies OptionTable<FindServiceOptions>;

/**
 * Lists the instances of all services that run now.
 * @example
 * ```ts
 * const services = await listServices({ discovery: natsDiscovery() });
 * for (const { name, version, tools, node } of services) console.log(name, version, tools, node);
 * ```
 */
export async function listServices(options: FindServiceOptions = {}): Promise<readonly ServiceInstance[]> {
  checkOptions('listServices', options, findTable);
  const { discovery = processDiscovery } = options;
  return discovery.list();
}

/** Finds an instance of a service that runs now; undefined if there is none. */
export async function findService(
  name: string,
  options: FindServiceOptions = {},
): Promise<ServiceInstance | undefined> {
  checkOptions('findService', options, findTable);
  const { discovery = processDiscovery } = options;
  return discovery.find(name);
}

/** Tells whether an instance of a service runs now. */
export async function serviceAvailable(name: string, options: FindServiceOptions = {}): Promise<boolean> {
  return (await findService(name, options)) !== undefined;
}
