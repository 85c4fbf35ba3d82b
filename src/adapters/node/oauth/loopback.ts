import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onAbort } from '../../../async/abort.js';
import { settlesWithin } from '../../../async/deadline.js';
import type { BrowserOptions } from '../../../oauth/client/create-auth.js';
import type { Redirection } from '../../../oauth/client/grants/authorization-code.js';
import type { UserAgent, WaitingUserAgent } from '../../../oauth/client/user-agent.js';
import { McpError } from '../../../protocol/errors.js';
import { openBrowser } from './open-browser.js';

// The system's browser, and a server on this computer that the browser is sent back to (RFC 8252).

const PATH = '/callback';
const HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
/** The time for the last page to reach the browser. */
const LAST_PAGE_MS = 1000;

/** Logs in with the system's browser. The server listens only during a login, and only on this computer. */
export function browserUserAgent({ redirectUri, open = openBrowser, name }: BrowserOptions): UserAgent {
  return {
    async start({ preferred }) {
      const listening = await listen(
        redirectUri === undefined ? preferred : [redirectUri],
        redirectUri !== undefined,
      );
      return waitingAgent(listening, { open, name });
    },
  };
}

interface Listening {
  readonly servers: readonly Server[];
  readonly redirectUri: string;
}

/** Listens at the first of the redirect URIs that is free, or at a new one. */
async function listen(redirectUris: readonly string[], isRequired: boolean): Promise<Listening> {
  for (const redirectUri of redirectUris) {
    const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
    const isLocal = url?.protocol === 'http:' && HOSTS.includes(url.hostname) && url.port !== '';
    if (isLocal) {
      try {
        return { servers: await listenAt(url.hostname, Number(url.port)), redirectUri };
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (isRequired) throw notFree(redirectUri, code);
      }
    } else if (isRequired) throw notLocal(redirectUri);
  }
  const servers = await listenAt('127.0.0.1', 0);
  const { port } = (servers[0] as Server).address() as AddressInfo;
  return { servers, redirectUri: `http://127.0.0.1:${port}${PATH}` };
}

async function listenAt(hostname: string, port: number): Promise<readonly Server[]> {
  // The name may mean either address.
  const hosts = hostname === 'localhost' ? ['127.0.0.1', '::1'] : [hostname.replace(/^\[|\]$/g, '')];
  const servers: Server[] = [];
  for (const host of hosts) {
    const server = createServer({ maxHeaderSize: 32 * 1024, requestTimeout: 10_000 });
    try {
      server.listen({ host, port, exclusive: true });
      await once(server, 'listening');
      servers.push(server);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // A computer may have no IPv6. If another program listens there, it would get the code.
      if (servers.length > 0 && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code)) continue;
      for (const other of servers) other.close();
      throw error;
    }
  }
  return servers;
}

function waitingAgent(
  { servers, redirectUri }: Listening,
  { open, name }: { readonly open: (url: string) => unknown; readonly name: string },
): WaitingUserAgent {
  const pages = new Set<Promise<unknown>>();

  function answer(response: ServerResponse, status: number, error: string | undefined): void {
    if (response.headersSent || response.destroyed) return;
    pages.add(once(response, 'close'));
    void send(response, status, error).catch(() => response.destroy());
  }

  async function send(response: ServerResponse, status: number, error: string | undefined): Promise<void> {
    const { pageHeaders, printPage } = await import('./last-page.js');
    response.writeHead(status, { ...pageHeaders, connection: 'close' }).end(printPage({ name, error }));
  }

  return {
    redirectUri,
    authorize({ url, state, signal }) {
      return new Promise<Redirection>((resolve, reject) => {
        const forget = onAbort(signal, () => settle(() => reject(signal.reason)));
        const settle = (end: () => void): void => {
          forget();
          for (const server of servers) server.off('request', onRequest);
          for (const server of servers)
            server.on('request', (_, response) => answer(response, 404, 'There is nothing here.'));
          end();
        };
        const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
          const at = readRedirect(request, redirectUri);
          if (at === undefined) return answer(response, 404, 'There is nothing here.');
          // Any page could send the browser here. The login continues.
          if (at.searchParams.get('state') !== state)
            return answer(response, 400, 'This page does not belong to the login in progress.');
          settle(() =>
            resolve({
              url: at.href,
              finish: ({ error }) => answer(response, error === undefined ? 200 : 400, error),
            }),
          );
        };
        for (const server of servers) server.on('request', onRequest);
        // Not awaited: a program may show the URL for as long as the login takes.
        Promise.resolve()
          .then(() => open(url))
          .catch((error: unknown) => settle(() => reject(cannotOpen(error))));
      });
    },
    async close() {
      for (const server of servers) server.close();
      if (pages.size > 0) await settlesWithin(Promise.all(pages), LAST_PAGE_MS);
      for (const server of servers) server.closeAllConnections();
    },
  };
}

/** The URL of a redirect; undefined if the request is something else. */
function readRedirect({ method, url = '' }: IncomingMessage, redirectUri: string): URL | undefined {
  if (method !== 'GET' || !URL.canParse(url, redirectUri)) return undefined;
  const { pathname } = new URL(redirectUri);
  const at = new URL(url, redirectUri);
  return at.pathname === pathname && at.origin === new URL(redirectUri).origin ? at : undefined;
}

function cannotOpen(error: unknown): McpError {
  if (McpError.is(error)) return error;
  return new McpError('unauthorized', 'The function given as `open` failed, so the user cannot log in.', {
    cause: error,
  });
}

function notFree(redirectUri: string, code: string | undefined): McpError {
  return new McpError(
    'unauthorized',
    `The redirect URI ${redirectUri} cannot be used: its port is not free${code === undefined ? '' : ` (${code})`}. End the program that uses it, or choose another one.`,
  );
}

function notLocal(redirectUri: string): McpError {
  return new McpError(
    'invalid_request',
    `The redirect URI ${JSON.stringify(redirectUri)} does not lead to a port of this computer, such as http://127.0.0.1:8765/callback. For another one, pass \`authorize\`.`,
  );
}
