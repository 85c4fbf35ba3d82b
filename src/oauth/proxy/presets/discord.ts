import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';
import { readApi } from '../upstream/api.js';
import type { UpstreamOptions } from '../upstream/open-id.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset } from './preset.js';

/** The options of `discord`. */
export interface DiscordUpstreamOptions extends UpstreamOptions {
  /** The secret of the application. */
  readonly clientSecret: string;
  /** The scopes to ask for. `identify` is always among them. Default: `identify` and `email`. */
  readonly scopes?: readonly string[] | undefined;
}

const ISSUER = 'https://discord.com';
const API = 'https://discord.com/api';

/**
 * Lets users log in with Discord. Create an application in its developer portal, with `<issuer>/callback` among its redirects.
 *
 * - The subject is the id of the user. Names (`claims.username`) can change.
 * - Tokens are opaque: Discord is asked which application they belong to.
 * - The email address is there if Discord has verified it.
 * @example
 * ```ts
 * const upstream = discord({ clientId, clientSecret });
 * ```
 */
export function discord(options: DiscordUpstreamOptions): UpstreamProvider {
  checkPreset('discord', options, {});
  const { clientId, clientSecret, authorizationParameters } = options;
  const { name = 'Discord', scopes = ['identify', 'email'] } = options;
  return {
    name,
    issuer: ISSUER,
    clientId,
    clientSecret,
    authorizationParameters,
    authentication: 'client_secret_basic',
    scopes: [...new Set(['identify', ...scopes])],
    // It has two metadata documents that contradict each other.
    endpoints: {
      authorization: `${ISSUER}/oauth2/authorize`,
      token: `${API}/oauth2/token`,
      revocation: `${API}/oauth2/token/revoke`,
    },
    async identify({ accessToken }, { fetch }) {
      const { application, user: owner } = await read('/oauth2/@me', accessToken, fetch);
      if (!isObject(application) || application['id'] !== clientId)
        throw new Error('The token is a token of another application.');
      const user = await read('/users/@me', accessToken, fetch);
      const { id, username, global_name: fullName, email, verified } = user;
      if (typeof id !== 'string' || !isObject(owner) || owner['id'] !== id)
        throw new Error('The API described another user.');
      const claims: JsonObject = {};
      if (typeof username === 'string') claims['username'] = username;
      if (typeof fullName === 'string') claims['name'] = fullName;
      const isVerified = verified === true && typeof email === 'string';
      return { issuer: ISSUER, subject: id, email: isVerified ? email : undefined, claims };
    },
  };
}

async function read(path: string, token: string, fetch: SafeFetch): Promise<JsonObject> {
  const { status, body } = await readApi(fetch, `${API}${path}`, { token });
  if (status !== 200 || body === undefined) throw new Error(`The API replied to ${path} with ${status}.`);
  return body;
}
