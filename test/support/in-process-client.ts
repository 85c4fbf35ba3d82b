import { createClient } from '../../src/client/create-client.js';
import type { Client } from '../../src/client/model/client.js';
import type { ClientOptions } from '../../src/client/model/options.js';
import type { Dispatch } from '../../src/protocol/call.js';
import { dispatchLink } from '../../src/transports/memory/link.js';

/** A client of a dispatch in this process. */
export function inProcessClient(
  server: { readonly dispatch: Dispatch },
  options: ClientOptions = {},
): Promise<Client> {
  return createClient({
    open: (_events, open) => dispatchLink(server.dispatch, { open, caller: options.caller }),
    target: 'in-process',
    cacheKey: 'in-process',
    options,
  });
}
