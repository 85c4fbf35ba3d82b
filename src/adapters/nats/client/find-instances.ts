// Asks NATS which instances of services run now.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { tryParse } from '../../../jsonrpc/try-parse.js';
import type { ServiceInstance } from '../../../protocol/services.js';
import type { NatsClient } from '../connection/client.js';
import type { NatsMessage } from '../connection/nats-types.js';
import { isServiceName } from '../connection/subjects.js';
import { NO_RESPONDERS } from '../link/frames.js';
import {
  META_NODE,
  META_REVISIONS,
  META_STARTED,
  META_TITLE,
  META_TOOLS,
  META_VERSION,
  TYPES,
} from '../link/micro.js';

/** The number of instances that are read; whoever may publish could send any number. */
const MAX_INSTANCES = 10_000;

export interface FindInstances {
  readonly inbox: string;
  /** The beginning of the subjects of services. Those of others cannot be reached. */
  readonly prefix: string;
  /** The name of the service. Default: all services. */
  readonly name?: string;
  /** Whether the first answer is enough. */
  readonly isOneEnough: boolean;
  readonly waitMs: number;
}

/** The instances that answer in time. If nothing listens at all, NATS says so at once. */
export async function findInstances(
  client: NatsClient,
  { inbox, prefix, name, isOneEnough, waitMs }: FindInstances,
): Promise<readonly ServiceInstance[]> {
  if (name !== undefined && !isServiceName(name)) return [];
  const found = new Map<string, ServiceInstance>();
  const { promise, resolve } = waiter();
  const subscription = client.nc.subscribe(inbox, {
    callback(error, message) {
      if (error !== null || message.headers?.code === NO_RESPONDERS) return resolve();
      const instance = readInstance(message, prefix);
      if (instance === undefined || (name !== undefined && instance.name !== name)) return;
      found.set(instance.id, instance);
      if (isOneEnough || found.size >= MAX_INSTANCES) resolve();
    },
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await client.persist('Services cannot be found', () => {
      client.nc.publish(name === undefined ? '$SRV.INFO' : `$SRV.INFO.${name}`, '', { reply: inbox });
      return client.flush();
    });
    timer = setTimeout(resolve, waitMs);
    await promise;
  } finally {
    clearTimeout(timer);
    subscription.unsubscribe();
  }
  return [...found.values()];
}

function waiter(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Reads a description. Undefined if it is not that of an MCP service. */
function readInstance({ data }: NatsMessage, prefix: string): ServiceInstance | undefined {
  const info = tryParse(new TextDecoder().decode(data));
  if (!isObject(info) || info['type'] !== TYPES.INFO) return undefined;
  const { name, id, version, metadata, endpoints } = info;
  const text = (key: string): string | undefined => {
    const value = isObject(metadata) ? metadata[key] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const revisions = text(META_REVISIONS);
  if (typeof name !== 'string' || typeof id !== 'string' || revisions === undefined) return undefined;
  const endpoint = endpointOf(endpoints, `${prefix}.${name}`);
  if (endpoint === undefined) return undefined;
  return {
    name,
    id,
    version: text(META_VERSION) ?? String(version),
    title: text(META_TITLE),
    tools: toolsOf(endpoint),
    revisions: revisions.split(','),
    transports: ['nats'],
    node: text(META_NODE) ?? '',
    startedAt: text(META_STARTED) ?? '',
  };
}

function endpointOf(endpoints: unknown, subject: string): JsonObject | undefined {
  const all: readonly unknown[] = Array.isArray(endpoints) ? endpoints : [];
  return all.filter(isObject).find((endpoint) => endpoint['subject'] === subject);
}

function toolsOf({ metadata }: JsonObject): readonly string[] {
  const printed = isObject(metadata) ? metadata[META_TOOLS] : undefined;
  const tools = typeof printed === 'string' ? tryParse(printed) : undefined;
  return Array.isArray(tools) ? tools.filter((tool) => typeof tool === 'string') : [];
}
