// The login of an earlier command. It never asks the person: a command that was not asked to log in opens no page.

import type { AuthorizedRequest, ClientAuth } from '../../../protocol/model/client-auth.js';

/** An `auth` with the tokens that are kept for a server, which are refreshed where that is possible. */
export function storedLogin(): ClientAuth {
  let opened: Promise<ClientAuth | undefined> | undefined;
  let login: ClientAuth | undefined;
  const open = (server: string): Promise<ClientAuth | undefined> => {
    opened ??= openLogin(server).then((found) => {
      login = found;
      return found;
    });
    return opened;
  };
  return {
    headersFor: async (request) => (await open(request.server))?.headersFor(withoutAsking(request)) ?? {},
    onChallenge: async (reply, request) => {
      const challenged = Object.assign(withoutAsking(request), { headers: request.headers });
      return (await open(request.server))?.onChallenge(reply, challenged) ?? 'fail';
    },
    onReply: (reply, request) => login?.onReply?.(reply, request),
  };
}

/** The login for a server; undefined if there is none, or none that can be read: most servers need none. */
async function openLogin(server: string): Promise<ClientAuth | undefined> {
  const { keptTokens, loginStore } = await import('./login-store.js');
  const tokens = await keptTokens(server).catch(() => undefined);
  if (tokens === undefined) return undefined;
  const { oauth } = await import('../../../oauth.js');
  return oauth({ client: { name: 'fullmcp' }, store: loginStore() });
}

function withoutAsking(request: AuthorizedRequest): AuthorizedRequest {
  const { server, method, url, pauseTimeouts } = request;
  return {
    server,
    method,
    url,
    pauseTimeouts,
    mayAsk: false,
    get signal() {
      return request.signal;
    },
  };
}
