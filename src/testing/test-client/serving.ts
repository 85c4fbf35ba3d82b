// Serves a dispatch over one of the transports, in memory.

import type { OpenAnyEra } from '../../connect/open/eras.js';
import { overHttp } from '../../connect/open/http.js';
import { overWire } from '../../connect/open/wire.js';
import { createHandler } from '../../http.js';
import type { Dispatch } from '../../protocol/call.js';
import type { OpenLink } from '../../protocol/link.js';
import type { Wire } from '../../transports/client/wire.js';
import type { HeaderValues, HttpLinkOptions } from '../../transports/http/client/options.js';
import { dispatchLink } from '../../transports/memory/link.js';
import { webSocketWire } from '../../transports/websocket/connect.js';
import type { Faults } from '../faults/faults.js';
import { faultyFetch } from '../faults/faulty-fetch.js';
import { faultyWire } from '../faults/faulty-wire.js';
import { memoryFetch } from '../memory/fetch.js';
import { memoryStdio } from '../memory/stdio.js';
import { memoryWebSocket } from '../memory/web-socket.js';
import { carriesHeaders, type TestTransport } from './wires.js';

/** A server in memory: opens links to it, and closes it. */
export interface MemoryServing {
  readonly open: OpenLink;
  readonly close: () => Promise<void>;
}

export interface ServingParts {
  readonly wire: TestTransport;
  readonly faults: Faults | undefined;
  readonly headers: HeaderValues | undefined;
  /** The credentials of the client. */
  readonly auth: HttpLinkOptions['auth'] | undefined;
}

/** Serves with all of the transport's own code, from the client's link to the server. Only the socket or process is replaced. */
export function serveInMemory(
  server: { readonly dispatch: Dispatch },
  { wire, faults, headers, auth }: ServingParts,
): MemoryServing {
  const { dispatch } = server;
  const { over, revision, name } = wire;
  if (auth !== undefined && over !== 'http' && over !== 'http+sse')
    throw new TypeError(
      `Over ${over}, a test has no credentials. Choose \`over: 'http'\`, or pass \`caller\` instead.`,
    );
  if (headers !== undefined && !carriesHeaders(wire))
    throw new TypeError(
      `The transport ${over} has no headers. Choose \`over: 'http'\`, or pass \`caller\` instead.`,
    );
  switch (over) {
    case 'in-process':
      if (faults !== undefined)
        throw new TypeError(
          "The transport in-process cannot have faults. Choose another, such as `over: 'http'`.",
        );
      return { open: (_events, open) => dispatchLink(dispatch, { open }), close: async () => undefined };
    case 'http':
    case 'http+sse': {
      const handler = createHandler(server);
      const fetch = memoryFetch(handler);
      const http = {
        fetch: faults === undefined ? fetch : faultyFetch(fetch, faults),
        ...(headers && { headers }),
        ...(auth !== undefined && { auth }),
      };
      const url = new URL(`http://localhost/${over === 'http' ? 'mcp' : 'sse'}`);
      const known = over === 'http' ? undefined : { era: over, revision };
      const openLink = overHttp(url, { target: name, http });
      return {
        open: (events, open) => openLink(events, { ...open, revision, known }),
        close: () => handler.close({ deadlineMs: 0 }),
      };
    }
    case 'stdio':
      return onWires(() => memoryStdio(dispatch), { wire, faults });
    case 'websocket': {
      const closings: Promise<void>[] = [];
      const WebSocket = memoryWebSocket(dispatch, { headers, onServing: (closed) => closings.push(closed) });
      const make = (): Wire => webSocketWire('ws://localhost/mcp', { WebSocket });
      return onWires(make, { wire, faults }, async () => void (await Promise.all(closings)));
    }
    default:
      over satisfies never;
      throw new TypeError(`There is no transport "${over}".`);
  }
}

const PROBE_MS = 5000;

function onWires(
  make: () => Wire,
  { wire: { over, revision, name }, faults }: Omit<ServingParts, 'headers' | 'auth'>,
  close = async (): Promise<void> => undefined,
): MemoryServing {
  const openLink: OpenAnyEra = overWire(() => (faults === undefined ? make() : faultyWire(make(), faults)), {
    target: name,
    transport: over,
    probeTimeoutMs: PROBE_MS,
  });
  return { open: (events, open) => openLink(events, { ...open, revision }), close };
}
