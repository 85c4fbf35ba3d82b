// Opens a link to a service that is found by its name.

import { McpError } from '../../protocol/errors.js';
import type { Link, OpenLink } from '../../protocol/link.js';
import type { Discovery, OpenServiceOptions } from '../../protocol/services.js';
import { userHeaders } from '../../transports/http/client/request-headers.js';
import { processDiscovery } from '../../transports/memory/discovery.js';
import type { ConnectOptions, NatsTarget, Runtime } from '../targets/options.js';
import type { ServiceTarget } from '../targets/target.js';
import { requireRevision } from './eras.js';

export interface ServiceParts {
  readonly options: ConnectOptions;
  readonly runtime: Runtime;
}

/** Opens a link to a service: with the discovery of the target, in this process, or over NATS. */
export function overService(target: ServiceTarget | string, { options, runtime }: ServiceParts): OpenLink {
  return async function openService(events, open) {
    const { service, discovery, isOwn } = await locate(target, runtime);
    try {
      const link = await discovery.open(service, serviceOptions(options))(events, open);
      const accepted = await requireRevision(link, options.revision);
      return isOwn ? withDiscovery(accepted, discovery) : accepted;
    } catch (error) {
      if (isOwn) await discovery.close();
      throw error;
    }
  };
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
