// The inspector of a server in its own program, below a path of it or on a port of its own.

import type { IncomingMessage, ServerResponse } from 'node:http';
import process from 'node:process';
import { fullmcp } from '../client/model/options.js';
import type { ServerObject } from '../connect/targets/target.js';
import { isLoopbackUrl } from '../oauth/fetch/check-url.js';
import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import { operatedServer } from '../tooling/operator/operated-server.js';
import { createInspector } from './create-inspector.js';
import { requestHandler } from './host/request-handler.js';
import { newToken } from './host/secret.js';
import { serveInspector } from './host/serve-inspector.js';
import { listenToJournals } from './journal/listen-to-journals.js';

/** The options of `inspector`. */
export interface MountedInspectorOptions {
  /** The path that the inspector is below. Default: `/inspector`. */
  readonly path?: string;
  /**
   * Called with the address of the page when someone on this computer opens the path without the token. Default: the address is
   * written to stderr.
   */
  readonly onAddress?: (url: string) => void;
}

/** The inspector of a server, as the handler of a path. */
export interface MountedInspector {
  /** Handles a request of `node:http`, Express or Fastify's `raw`. Requests for other paths are passed to `next`, or get 404. */
  (req: IncomingMessage, res: ServerResponse, next?: () => void): void;
  /** The address of the page, with its token, for the origin that the program listens on, such as `http://localhost:3000`. */
  readonly address: (origin: string) => string;
  /** Serves the page on a port of its own instead. Default: a free port. */
  readonly listen: (options?: {
    /** The port. Default: a free one. */
    readonly port?: number;
  }) => Promise<{
    /** The address of the page, with its token. */
    readonly url: string;
  }>;
  /** Ends the inspector and its connection. */
  readonly close: () => Promise<void>;
  /** Ends the inspector, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

const optionTable = {
  path: { is: 'string', default: '/inspector' },
  onAddress: 'function',
} as const satisfies OptionTable<MountedInspectorOptions>;

/**
 * Makes the inspector of a server in the same program, for development only: it throws if NODE_ENV is `production`. It answers only
 * programs on this computer, and only with the token in the address that it prints. With the URL at which the program listens instead of the
 * server, the inspector connects as other clients do: over HTTP, and in each revision.
 *
 * @example
 * app.use(inspector(server)); // Express: http://localhost:3000/inspector
 */
export function inspector(
  server: ServerObject | string,
  options: MountedInspectorOptions = {},
): MountedInspector {
  const { path, onAddress = printAddress } = readOptions('inspector', options, optionTable);
  if (process.env['NODE_ENV'] === 'production')
    throw new Error(
      'inspector() is for development: it shows and calls everything that the server has. Do not call it if NODE_ENV is "production".',
    );
  if (typeof server === 'string') checkAddress(server);
  const base = baseOf(path);
  const token = newToken();
  const running = createInspector({
    version: fullmcp.version,
    fixed: {
      server: typeof server === 'string' ? server : operatedServer(server),
      name: typeof server === 'string' ? server : 'this server',
      seesJournal: true,
    },
  });
  const stopListening = listenToJournals((event) => running.journalEvent(event));
  const address = (origin: string): string => `${new URL(base, origin).href}?token=${token}`;
  const printed = new Set<string>();
  const mounted = requestHandler(running, {
    token,
    base,
    onStranger: (origin) => {
      if (!printed.has(origin)) onAddress(address(origin));
      printed.add(origin);
    },
  });
  const closing: (() => Promise<void>)[] = [() => mounted.close()];

  function handle(req: IncomingMessage, res: ServerResponse, next?: () => void): void {
    if (mounted.handle(req, res)) return;
    if (next !== undefined) return next();
    res.writeHead(404).end();
  }

  async function listen({ port }: { readonly port?: number } = {}): Promise<{ readonly url: string }> {
    const served = await serveInspector(running, port === undefined ? {} : { port });
    closing.push(() => served.close());
    return { url: served.url };
  }

  async function close(): Promise<void> {
    stopListening();
    await Promise.all(closing.splice(0).map((end) => end()));
    await running.close();
  }

  return Object.assign(handle, { address, listen, close, [Symbol.asyncDispose]: close });
}

/** Another server would learn what the user types, and is not the one that the program shows. */
function checkAddress(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^(?:https?|wss?):$/.test(url.protocol) || !isLoopbackUrl(url))
    throw new TypeError(
      `inspector: the URL must be an address of this computer such as "http://localhost:3000/mcp", not ${JSON.stringify(text)}.`,
    );
}

/** With a slash at both ends. */
function baseOf(path: string): string {
  if (!/^\/[\w.~/-]*$/.test(path) || path.includes('//'))
    throw new TypeError(
      `inspector: "path" must be a path such as "/inspector", not ${JSON.stringify(path)}.`,
    );
  return path.endsWith('/') ? path : `${path}/`;
}

function printAddress(url: string): void {
  process.stderr.write(`Inspector: ${url}\n`);
}
