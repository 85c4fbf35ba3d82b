import { unlessAborted } from '../../async/abort.js';
import { Flight } from '../../async/flight.js';
import { McpError } from '../../protocol/errors.js';
import type {
  AuthHeaders,
  AuthorizedRequest,
  ChallengedRequest,
  ChallengeReply,
} from '../../protocol/model/client-auth.js';
import { type ResourceChallenge, readResourceChallenge } from '../documents/resource-challenge.js';
import { acquire, type Cause, type HeldTokens, keyOf } from './acquire.js';
import { failedHop } from './hops/failures.js';
import { logout } from './logout.js';
import type { AccessParts } from './parts.js';
import { isCovered, isDue, isExpired, readTokens } from './store/records.js';

/** A server that still refuses after so many logins in a row will refuse the next one, too. */
const MAX_LOGINS = 3;
const noHeaders: AuthHeaders = {};

interface CurrentFlight {
  readonly flight: Flight<HeldTokens | undefined>;
  readonly mayAsk: boolean;
}

/** The access of one client to one MCP server: its tokens, and one attempt at a time to get better ones. */
export class ResourceAccess {
  readonly #server: string;
  readonly #key: string;
  readonly #parts: AccessParts;
  #held: HeldTokens | undefined;
  #headers: AuthHeaders = noHeaders;
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #current: CurrentFlight | undefined;
  /** The access token that the server has accepted at least once. */
  #accepted: string | undefined;
  #logins = 0;
  #isLoggingIn = false;
  /** The number of logouts: tokens of an attempt from before the last one must not be used. */
  #epoch = 0;

  constructor(server: string, key: string, parts: AccessParts) {
    this.#server = server;
    this.#key = key;
    this.#parts = parts;
  }

  headersFor(request: AuthorizedRequest): AuthHeaders | Promise<AuthHeaders> {
    const held = this.#held;
    if (this.#isLoaded && held === undefined) return noHeaders;
    if (held !== undefined && held.dpop === undefined && !isDue(held.tokens)) return this.#headers;
    return this.#prepare(request);
  }

  async onChallenge(reply: ChallengeReply, request: ChallengedRequest): Promise<'retry' | 'fail'> {
    const challenge = readResourceChallenge(reply.header('www-authenticate'));
    if (this.#learnNonce(reply, request) && challenge.error === 'use_dpop_nonce') return 'retry';
    if (reply.status === 403 && challenge.error !== 'insufficient_scope') return 'fail';
    const sent = tokenOf(request.headers);
    const { status } = reply;
    this.#parts.emit({ type: 'challenge', status, scopes: challenge.scopes ?? [] });
    const held = await this.#renew(request, this.#causeOf(status, challenge, sent));
    return held === undefined || held.tokens.accessToken === sent ? 'fail' : 'retry';
  }

  onReply(reply: ChallengeReply, request: ChallengedRequest): void {
    this.#learnNonce(reply, request);
    const sent = tokenOf(request.headers);
    if (sent === undefined || reply.status >= 500) return;
    this.#accepted = sent;
    this.#logins = 0;
  }

  /** Deletes the tokens, and revokes them. A login in progress ends; a refresh is waited for. */
  async logout(): Promise<void> {
    if (this.#isLoggingIn) this.#current?.flight.cancel(loggedOut(this.#server));
    this.#epoch++;
    const unsaved = this.#held?.unsaved && this.#held.tokens;
    this.#hold(undefined);
    await logout({ ...this.#parts, server: this.#server, key: this.#key, unsaved });
  }

  async #prepare(request: AuthorizedRequest): Promise<AuthHeaders> {
    if (!this.#isLoaded) {
      this.#loading ??= this.#load();
      await this.#loading;
    }
    if (this.#held === undefined) return noHeaders;
    if (isDue(this.#held.tokens)) await this.#renewInTime(request);
    const held = this.#held as HeldTokens | undefined;
    if (held === undefined) return noHeaders;
    if (held.dpop === undefined) return this.#headers;
    const { accessToken } = held.tokens;
    const proof = await held.dpop.prove(request.url, request.method, accessToken);
    return { authorization: `DPoP ${accessToken}`, dpop: proof };
  }

  async #load(): Promise<void> {
    try {
      const epoch = this.#epoch;
      const { value: tokens } = await readTokens(this.#parts.store, this.#key);
      const dpop = tokens && (await keyOf({ held: undefined }, tokens));
      if (tokens !== undefined && epoch === this.#epoch) this.#hold({ tokens, dpop, how: 'store' });
      this.#isLoaded = true;
    } finally {
      this.#loading = undefined;
    }
  }

  /** Renews a token that is about to end. While it has not ended, a failure to renew it does no harm. */
  async #renewInTime(request: AuthorizedRequest): Promise<void> {
    const { tokens } = this.#held as HeldTokens;
    try {
      await this.#renew(request, { kind: 'due' });
    } catch (error) {
      if (request.signal.aborted || isExpired(tokens)) throw error;
    }
  }

  /** Gets better tokens, together with everybody else who needs them. */
  async #renew(request: AuthorizedRequest, cause: Cause): Promise<HeldTokens | undefined> {
    for (;;) {
      if (this.#isAnswered(cause)) return this.#held;
      const left = this.#current?.flight;
      // Everybody else has given up: their reason is not the reason of this request.
      if (left?.isAbandoned) {
        await unlessAborted(left.ended, request.signal);
        continue;
      }
      const current = this.#current ?? this.#start(request.mayAsk && cause.kind === 'challenge', cause);
      const isPatient = this.#parts.grant.isInteractive && current.mayAsk;
      const join = (): Promise<HeldTokens | undefined> => current.flight.join(request.signal);
      const held = await (isPatient ? request.pauseTimeouts(join) : join());
      const isOwn = this.#causes.get(current.flight) === cause;
      if (isOwn || (held === undefined && !request.mayAsk)) return held;
      // Somebody else's attempt may have been for less: without the user, or without these scopes.
      if (held === undefined && current.mayAsk) return undefined;
    }
  }

  readonly #causes = new WeakMap<Flight<HeldTokens | undefined>, Cause>();

  #start(mayAsk: boolean, cause: Cause): CurrentFlight {
    const { emit } = this.#parts;
    const epoch = this.#epoch;
    const flight = new Flight(async (signal) => {
      try {
        const held = await acquire({
          ...this.#parts,
          server: this.#server,
          key: this.#key,
          cause,
          mayAsk,
          held: this.#held,
          signal,
          countLogin: () => {
            if (epoch !== this.#epoch) throw loggedOut(this.#server);
            this.#countLogin();
            this.#isLoggingIn = true;
          },
        });
        const left = held ?? (await this.#afterFailure());
        if (epoch !== this.#epoch) throw loggedOut(this.#server);
        this.#hold(left);
        return held;
      } catch (error) {
        const hop = failedHop(error);
        if (hop !== undefined) emit({ type: 'failed', hop, message: (error as McpError).message });
        throw error;
      } finally {
        if (this.#current?.flight === flight) this.#current = undefined;
        this.#isLoggingIn = false;
      }
    });
    this.#causes.set(flight, cause);
    const current = { flight, mayAsk };
    this.#current = current;
    return current;
  }

  /** The tokens that are left when no new ones could be got: none, if they were deleted. */
  async #afterFailure(): Promise<HeldTokens | undefined> {
    const stored = await readTokens(this.#parts.store, this.#key);
    return stored.value === undefined ? undefined : this.#held;
  }

  #hold(held: HeldTokens | undefined): void {
    this.#held = held;
    this.#headers = held === undefined ? noHeaders : { authorization: `Bearer ${held.tokens.accessToken}` };
  }

  /** Whether the tokens in memory are already better than those that the request was sent with. */
  #isAnswered(cause: Cause): boolean {
    const held = this.#held;
    if (held === undefined) return false;
    if (cause.kind === 'due') return !isDue(held.tokens);
    if (held.tokens.accessToken === cause.sent || isExpired(held.tokens)) return false;
    return cause.status === 401 || isCovered(cause.challenge.scopes ?? [], held.tokens);
  }

  #causeOf(status: number, challenge: ResourceChallenge, sent: string | undefined): Cause {
    const held = this.#held;
    const isUntried = held !== undefined && held.tokens.accessToken === sent && this.#accepted !== sent;
    const untried = isUntried && held.how !== 'store' ? held.how : undefined;
    return { kind: 'challenge', status, challenge, sent, untried };
  }

  #countLogin(): void {
    if (++this.#logins <= MAX_LOGINS) return;
    throw new McpError(
      'unauthorized',
      `${this.#server} still refuses requests after ${MAX_LOGINS} logins in a row, so there was no further one.`,
    );
  }

  /** Whether the reply has a nonce for the following proofs. */
  #learnNonce(reply: ChallengeReply, { url, headers }: ChallengedRequest): boolean {
    const { dpop } = this.#held ?? {};
    if (dpop === undefined || headers['dpop'] === undefined) return false;
    const nonce = reply.header('dpop-nonce');
    if (nonce === undefined) return false;
    dpop.learnNonce(url, nonce);
    return true;
  }
}

function loggedOut(server: string): McpError {
  return new McpError(
    'unauthorized',
    `The client was logged out of ${server} while a request waited for its tokens.`,
  );
}

function tokenOf({ authorization }: AuthHeaders): string | undefined {
  return authorization?.slice(authorization.indexOf(' ') + 1);
}
