import type { Auth } from '../../protocol/call.js';
import { type AuthInit, toAuth } from '../../protocol/caller.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { AuthProvider, AuthRequest, ResourceFacts } from '../../state/auth-provider.js';
import { readToken, unknownToken } from './credentials.js';

/** The options of every provider. */
export interface ProviderOptions {
  /** Whether a request without credentials is served for an anonymous caller. Default: it gets 401. */
  readonly optional?: boolean | undefined;
}

/** The options of `bearer`. */
export interface BearerOptions extends ProviderOptions {
  /** The facts that clients need before they can log in. Default: clients get their tokens in some other way. */
  readonly resource?: ResourceFacts | undefined;
}

/**
 * Checks a token: returns its caller, or undefined if the token is not valid. Set `expiresAt` if the token expires, so that streams
 * end then.
 */
export type VerifyToken = (
  token: string,
  request: AuthRequest,
) => AuthInit | undefined | null | Promise<AuthInit | undefined | null>;

/**
 * Identifies callers by the token of `Authorization: Bearer`, which your own function checks.
 *
 * @example
 * const auth = bearer(async (token) => {
 *   const session = await sessions.find(token);
 *   return session && { subject: session.userId, expiresAt: session.endsAt };
 * });
 * await serve(server, { auth });
 */
export function bearer(verify: VerifyToken, options: BearerOptions = {}): AuthProvider {
  const { optional, resource } = readOptions('bearer', options, optionTable);
  if (typeof verify !== 'function')
    throw new TypeError('bearer: the first argument must be a function that checks a token.');
  return {
    optional,
    resource,
    async check(request): Promise<Auth | undefined> {
      const token = readToken(request);
      if (token === undefined) return undefined;
      const caller = await verify(token, request);
      if (caller === undefined || caller === null) throw unknownToken('The token is not valid.');
      return toAuth(caller, 'bearer: the caller that the function returned');
    },
    async isStillValid(request) {
      const token = readToken(request);
      return token !== undefined && Boolean(await verify(token, request));
    },
  };
}

const optionTable = {
  optional: { is: 'boolean', default: false },
  resource: 'object',
} as const satisfies OptionTable<BearerOptions>;
