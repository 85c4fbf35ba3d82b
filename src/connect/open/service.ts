// Opens a link to a service that is found by its name.

import { McpError } from '../../protocol/errors.js';
import type { Link, OpenLink } from '../../protocol/link.js';
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
export function overService(target: ServiceTarget | string, parts: ServiceParts): OpenLink {
  return async function openService(events, open) {
    const { revision } = parts.options;
    if (typeof target === 'string') {
      const found = await overNats(target, parts);
      if (found.service === '')
        throw new McpError('invalid_request', 'The URL names no service. Write nats://host:4222/service.');
      return openOwn(found);
    }
    const { service, discovery } = target;
    if (discovery !== undefined)
      return requireRevision(await discovery.open(service)(events, open), revision);
    const url = parts.runtime.environment?.()?.['MCP_CLUSTER_URL'];
    if (/^(?:nats|tls):/i.test(url ?? '') && (await processDiscovery.find(service)) === undefined)
      return openOwn({ ...(await overNats(url as string, parts)), service });
    return requireRevision(await processDiscovery.open(service)(events, open), revision);

    /** Opens a link that owns its discovery. */
    async function openOwn(own: NatsTarget): Promise<Link> {
      try {
        const link = await requireRevision(await own.discovery.open(own.service)(events, open), revision);
        const { dispatch, discovered, transport } = link;
        const close = async (): Promise<void> => {
          await link.close();
          await own.discovery.close();
        };
        return { dispatch, discovered, transport, revision: link.revision, close };
      } catch (error) {
        await own.discovery.close();
        throw error;
      }
    }
  };
}

async function overNats(url: string, { options, runtime }: ServiceParts): Promise<NatsTarget> {
  if (runtime.nats === undefined)
    throw new McpError(
      'invalid_request',
      'A browser cannot use NATS: connect to a URL (https://, wss://) instead.',
    );
  const { auth, headers, maxMessageBytes } = options;
  const hasHeaders = auth !== undefined || headers !== undefined;
  return runtime.nats(url, {
    maxMessageBytes,
    headers: hasHeaders ? userHeaders(new URL('nats://localhost'), options) : undefined,
  });
}
