// Connects the timeouts of a client with the object that logs its user in.

import type { LinkEvents } from '../../protocol/link.js';
import type { AuthorizedRequest, ClientAuth } from '../../protocol/model/client-auth.js';
import type { HttpLinkOptions } from '../../transports/http/client/options.js';

/** The options of a link whose `auth` pauses the timeouts of this client while its user logs in. */
export function pausing<Options extends HttpLinkOptions>(
  http: Options,
  { whileAsking }: Pick<LinkEvents, 'whileAsking'>,
): Options {
  const { auth } = http;
  if (typeof auth !== 'object' || whileAsking === undefined) return http;
  const paused: ClientAuth = {
    headersFor: (request) => auth.headersFor(withPause(request, whileAsking)),
    onChallenge: (reply, request) => auth.onChallenge(reply, withPause(request, whileAsking)),
    onReply: (reply, request) => auth.onReply?.(reply, request),
  };
  return { ...http, auth: paused };
}

function withPause<Request extends AuthorizedRequest>(
  request: Request,
  whileAsking: AuthorizedRequest['pauseTimeouts'],
): Request {
  return Object.create(request, {
    // Not copied, because the signal is made when it is first read.
    signal: { get: () => request.signal },
    pauseTimeouts: {
      value: <T>(work: () => Promise<T>): Promise<T> => request.pauseTimeouts(() => whileAsking(work)),
    },
  }) as Request;
}
