import type { WithSignal } from '../../../async/lifetime.js';
import { McpError } from '../../../protocol/errors.js';
import type {
  AuthHeaders,
  AuthorizedRequest,
  ChallengedRequest,
  ClientAuth,
} from '../../../protocol/model/client-auth.js';
import type { HttpReply } from './carrier.js';
import { readTextSoon } from './read-body.js';
import { isReserved, setHeader } from './request-headers.js';

// Sends requests whose headers come from a `ClientAuth`, and lets it answer challenges.

/** A login, a nonce, a step-up and a second nonce are three retries; more of them do not help. */
export const MAX_CHALLENGES = 5;
const MAX_CHALLENGE_BYTES = 64 * 1024;

/** The facts about a request that a `ClientAuth` needs. */
export interface AuthorizedParts extends Pick<AuthorizedRequest, 'server' | 'method' | 'mayAsk'> {
  readonly url: URL;
  readonly until: WithSignal;
  readonly pauseTimeouts?: AuthorizedRequest['pauseTimeouts'] | undefined;
}

/** Sends a request until the reply is not a challenge, or until `auth` has no better headers for it. */
export async function sendAuthorized(
  auth: ClientAuth,
  parts: AuthorizedParts,
  send: (headersFor: (url: URL) => Promise<AuthHeaders>) => Promise<HttpReply>,
): Promise<HttpReply> {
  for (let challenges = 0; ; challenges++) {
    let sent: ChallengedRequest | undefined;
    const reply = await send(async (url) => {
      sent = await authorize(auth, { ...parts, url });
      return sent.headers;
    });
    if (sent === undefined) return reply;
    if (!isChallenge(reply)) {
      auth.onReply?.(reply, sent);
      return reply;
    }
    // The user may take minutes to log in, and the connection is not kept open for that long.
    const whole = await buffered(reply);
    if (challenges >= MAX_CHALLENGES || (await answerChallenge(auth, whole, sent)) === 'fail') return whole;
  }
}

/** Makes a function that adds the headers of a `ClientAuth` to the user's. The result is the same object for the same two. */
export function combineHeaders(): (user: AuthHeaders, auth: AuthHeaders) => AuthHeaders {
  let last:
    | { readonly user: AuthHeaders; readonly auth: AuthHeaders; readonly both: AuthHeaders }
    | undefined;
  return function combineHeaders(user, auth) {
    if (last?.user === user && last.auth === auth) return last.both;
    const own = new Headers(user);
    for (const [name, value] of Object.entries(auth))
      if (!isReserved(name.toLowerCase())) setHeader(own, name, value);
    last = { user, auth, both: Object.fromEntries(own) };
    return last.both;
  };
}

/** Whether a reply asks for other credentials. */
export function isChallenge({ status }: Pick<HttpReply, 'status'>): boolean {
  return status === 401 || status === 403;
}

/** Asks for the headers of a request. */
export async function authorize(auth: ClientAuth, parts: AuthorizedParts): Promise<ChallengedRequest> {
  const request = new OutgoingAuthorized(parts);
  return Object.assign(request, { headers: await blaming(() => auth.headersFor(request)) });
}

/** Lets `auth` answer a challenge. */
export function answerChallenge(
  auth: ClientAuth,
  reply: Pick<HttpReply, 'status' | 'header'>,
  request: ChallengedRequest,
): Promise<'retry' | 'fail'> {
  return blaming(() => auth.onChallenge(reply, request));
}

/** A request whose signal is made only if it is read. */
class OutgoingAuthorized implements AuthorizedRequest {
  readonly server: string;
  readonly method: string;
  readonly url: string;
  readonly mayAsk: boolean;
  readonly pauseTimeouts: AuthorizedRequest['pauseTimeouts'];
  readonly #until: WithSignal;

  constructor({ server, method, url, mayAsk, until, pauseTimeouts = (work) => work() }: AuthorizedParts) {
    this.server = server;
    this.method = method;
    this.url = url.href;
    this.mayAsk = mayAsk;
    this.pauseTimeouts = pauseTimeouts;
    this.#until = until;
  }

  get signal(): AbortSignal {
    return this.#until.signal;
  }
}

/** Reports an unexpected error as one of the authorization. */
async function blaming<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (McpError.is(error)) throw error;
    throw new McpError(
      'unauthorized',
      'The object given as `auth` failed, so the request could not be authorized.',
      { cause: error },
    );
  }
}

/** The reply with its body in memory, so that its connection is free. */
async function buffered(reply: HttpReply): Promise<HttpReply> {
  const body = await readTextSoon(reply, MAX_CHALLENGE_BYTES);
  let rest: Uint8Array | undefined = new TextEncoder().encode(body);
  return {
    status: reply.status,
    url: reply.url,
    opaque: reply.opaque,
    hidesHeaders: reply.hidesHeaders,
    header: (name) => reply.header(name),
    text: async (maxBytes) => (body.length > maxBytes ? undefined : body),
    async read() {
      const chunk = rest;
      rest = undefined;
      return chunk;
    },
    cancel() {},
  };
}
