// Opens a link to a service that is found by its name.

import { delay } from '../../async/delay.js';
import { checkOptions } from '../../protocol/checks/options.js';
import { McpError, throwCancelled } from '../../protocol/errors.js';
import type { Link, OpenLink } from '../../protocol/link.js';
import type { Discovery, OpenServiceOptions } from '../../protocol/services.js';
import { userHeaders } from '../../transports/http/client/request-headers.js';
import { processDiscovery } from '../../transports/memory/discovery.js';
import type { ConnectOptions, NatsTarget, Runtime } from '../targets/options.js';
import type { ServiceTarget } from '../targets/target.js';
import { requireRevision } from './eras.js';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1000;

export interface ServiceParts {
  readonly options: ConnectOptions;
  readonly runtime: Runtime;
}

/** Opens a link to a service: with the discovery of the target, in this process, or over NATS. */
export function overService(target: ServiceTarget | string, { options, runtime }: ServiceParts): OpenLink {
  return async function openService(events, open) {
    const located = await locate(target, runtime);
    const { service, discovery, isOwn } = located;
    try {
      const waitMs = typeof target === 'string' ? undefined : target.waitMs;
      const where = waitMs === undefined ? discovery : await appearing(located, waitMs, open.signal);
      const link = await where.open(service, serviceOptions(options))(events, open);
      const accepted = await requireRevision(link, options.revision);
      return isOwn ? withDiscovery(accepted, discovery) : accepted;
    } catch (error) {
      if (isOwn) await discovery.close();
      throw error;
    }
  };
}

/** The discovery that finds an instance of a service, as soon as one runs; or when the time to wait is over. */
async function appearing(
  { service, discovery, isOwn }: Located,
  waitMs: number,
  signal: AbortSignal,
): Promise<Discovery> {
  checkOptions('connect', { waitMs }, { waitMs: 'count' });
  const until = performance.now() + waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    // A server of this process may be registered while others are being waited for.
    if (isOwn && (await processDiscovery.find(service)) !== undefined) return processDiscovery;
    if ((await discovery.find(service)) !== undefined) return discovery;
    const leftMs = until - performance.now();
    if (leftMs <= 0) return discovery;
    await delay(Math.min(pauseMs, leftMs), { signal }).catch(throwCancelled);
  }
}

interface Located extends NatsTarget {
  /** Whether the discovery serves this link alone. */
  readonly isOwn: boolean;
}

async function locate(target: ServiceTarget | string, runtime: Runtime): Promise<Located> {
  if (typeof target === 'string') {
    const found = await overNats(target, runtime);
    if (found.service !== '') return found;
    await found.discovery.close();
    throw new McpError('invalid_request', 'The URL names no service. Write nats://host:4222/service.');
  }
  const { service, discovery } = target;
  if (discovery !== undefined) return { service, discovery, isOwn: false };
  const url = runtime.environment?.()?.['MCP_CLUSTER_URL'] ?? '';
  if (/^(?:nats|tls):/i.test(url) && (await processDiscovery.find(service)) === undefined)
    return { ...(await overNats(url, runtime)), service };
  return { service, discovery: processDiscovery, isOwn: false };
}

async function overNats(url: string, { nats }: Runtime): Promise<Located> {
  if (nats === undefined)
    throw new McpError(
      'invalid_request',
      'A browser cannot use NATS: connect to a URL (https://, wss://) instead.',
    );
  return { ...(await nats(url)), isOwn: true };
}

function serviceOptions(options: ConnectOptions): OpenServiceOptions {
  const { auth, headers, caller, maxMessageBytes } = options;
  const hasHeaders = auth !== undefined || headers !== undefined;
  return {
    caller,
    maxMessageBytes,
    headers: hasHeaders ? userHeaders(new URL('nats://localhost'), options) : undefined,
  };
}

/** A link that closes its discovery, too. */
function withDiscovery(link: Link, discovery: Discovery): Link {
  return {
    ...link,
    async close() {
      await link.close();
      await discovery.close();
    },
  };
}
