// Opens links to targets of every kind.

import type { Dispatch } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { OpenLink } from '../../protocol/link.js';
import type { HeaderValues } from '../../transports/http/client/options.js';
import { KnownServers } from '../targets/known-servers.js';
import type { ConnectOptions, Runtime } from '../targets/options.js';
import type { OpenableTarget, ServiceTarget } from '../targets/target.js';
import { eraKeyOf, nameOf } from '../targets/target-names.js';
import type { OpenAnyEra } from './eras.js';
import { overHttp } from './http.js';
import { openKnown } from './open-known.js';
import type { ServiceParts } from './service.js';

/** Makes the function that opens links in a runtime, with a cache that remembers the era of each server. */
export function linkOpener(
  runtime: Runtime,
): (resolved: OpenableTarget, options: ConnectOptions) => OpenLink {
  const sharedServers = new KnownServers();

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
        const { overWire } = await import('./wire.js');
        return overWire(() => openProcess(server, limits), { ...over, transport: 'stdio' })(events, open);
      };
    }
    const { url } = resolved;
    const http = withHeaders(options, resolved.headers);
    if (resolved.kind === 'http') return overHttp(url, { target: over.target, http, carrier: runtime.http });
    return async function overSocket(events, open) {
      const { overWebSocket } = await import('./web-socket.js');
      return overWebSocket(url, { ...over, http, runtime })(events, open);
    };
  }

  return openLinkTo;
}

// Loaded when needed: few web pages have a server in the same process.
function openInProcess(dispatch: Dispatch, { caller }: ConnectOptions): OpenLink {
  return async (_events, open) => {
    const { dispatchLink } = await import('../../transports/memory/link.js');
    return dispatchLink(dispatch, { open, caller });
  };
}

function openService(target: ServiceTarget | string, parts: ServiceParts): OpenLink {
  return async (events, open) => {
    const { overService } = await import('./service.js');
    return overService(target, parts)(events, open);
  };
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

/** A function for what only some runtimes can do. */
export function unsupported(action: string): () => Promise<never> {
  return async () => {
    throw new McpError('invalid_request', `A browser cannot ${action}: connect to a URL instead.`);
  };
}
