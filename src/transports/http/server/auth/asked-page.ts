// Serves the page that asks the users of clients that cannot ask. It needs no caller, but one who has proved to be the caller needs no code.

import type { Auth } from '../../../../protocol/call.js';
import type { EndpointAuth } from '../gate.js';
import type { Incoming } from '../incoming.js';
import { toWebRequest } from './provider-request.js';

/** A page, as a server has it. */
export interface ServedPage {
  readonly path: string;
  readonly reply: (request: Request, auth: Auth | undefined) => Promise<Response>;
}

const LIMITS = { maxBytes: 64 * 1024, silenceMs: 30_000 };
/** The page reads only the query of its address. */
const ORIGIN = 'http://page.invalid';

/** Replies to a request for the page. */
export async function replyAsked(
  incoming: Incoming,
  page: ServedPage,
  protectedBy: EndpointAuth | undefined,
): Promise<void> {
  const request = toWebRequest(incoming, ORIGIN, LIMITS);
  try {
    if (request === undefined) return incoming.reply(400, {});
    await incoming.respond(await page.reply(request, await callerOf(incoming, protectedBy)));
  } catch {
    incoming.reply(500, {});
  }
}

// Most browsers have no credentials of the endpoint, and are refused there.
async function callerOf(
  incoming: Incoming,
  protectedBy: EndpointAuth | undefined,
): Promise<Auth | undefined> {
  try {
    await protectedBy?.starting();
    return await protectedBy?.authenticate(incoming);
  } catch {
    return undefined;
  }
}
