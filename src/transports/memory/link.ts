import { Lifetime, withSignal } from '../../async/lifetime.js';
import type { Dispatch, TransportName } from '../../protocol/call.js';
import { type AuthInit, toAuth } from '../../protocol/caller.js';
import type { Link, OpenOptions } from '../../protocol/link.js';
import type { Discovered } from '../../protocol/model/model.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { detach } from './detach.js';

export interface DispatchLinkOptions {
  readonly open: OpenOptions;
  readonly caller?: AuthInit | undefined;
  readonly transport?: TransportName;
}

/**
 * A link to a dispatch in this process: a server, a proxy, a mock. Calls are passed on as they are, and the values of tools as
 * copies through JSON.
 */
export async function dispatchLink(
  dispatch: Dispatch,
  { open, caller, transport = 'in-process' }: DispatchLinkOptions,
): Promise<Link> {
  const peer = { revision: newestRevision, logLevel: undefined, ...open.client };
  const lifetime = new Lifetime();
  const abort = (): void => lifetime.end(open.signal.reason);
  open.signal.addEventListener('abort', abort, { once: true });
  try {
    const auth = toAuth(caller, 'caller');
    const call = withSignal(
      { id: 0, method: 'server/discover', params: {}, peer, auth, isLocal: true, notify() {} },
      lifetime,
    );
    const discovered = (await dispatch(call)) as unknown as Discovered;
    return {
      dispatch: async (inner) => detach(await dispatch(inner)),
      revision: newestRevision,
      transport,
      discovered,
      close: async () => {},
    };
  } finally {
    open.signal.removeEventListener('abort', abort);
  }
}
