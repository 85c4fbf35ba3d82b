import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { basicCredentials } from '../../fetch/basic-credentials.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';
import { readApi } from '../upstream/api.js';
import type { UpstreamOptions } from '../upstream/open-id.js';
import type { UpstreamProvider, UpstreamTokens } from '../upstream/provider.js';
import { checkPreset, siteOf } from './preset.js';

/** The options of `github`. */
export interface GithubUpstreamOptions extends UpstreamOptions {
  /** The secret of the app. */
  readonly clientSecret: string;
  /** The URL of GitHub Enterprise Server, or of a company's GitHub, such as `https://example.ghe.com`. Default: `https://github.com`. */
  readonly url?: string | undefined;
  /**
   * The URL of the API. Default: the one that belongs to `url`: `https://api.github.com`, `https://api.example.ghe.com`, or `/api/v3`
   * of GitHub Enterprise Server. Name another host on a private network in `privateHosts` of the proxy.
   */
  readonly apiUrl?: string | undefined;
  /**
   * The scopes to ask for. A GitHub App does not have scopes: it has the permissions of its settings. Default: `read:user` and
   * `user:email`.
   */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Lets users log in with GitHub. Create an OAuth app or a GitHub App in its developer settings, with `<issuer>/callback` as the
 * callback URL.
 *
 * - The subject is the id of the user. Names of users (`claims.login`) can change, and be given to someone else.
 * - The email address is the primary one, if GitHub has verified it. A GitHub App needs the permission to read email addresses.
 * - Tokens of OAuth apps have no end, so GitHub is asked whether they are still valid when a client refreshes its own tokens. GitHub
 *   Apps have refresh tokens.
 * @example
 * ```ts
 * const upstream = github({ clientId, clientSecret });
 * ```
 */
export function github(options: GithubUpstreamOptions): UpstreamProvider {
  checkPreset('github', options, { url: 'any', apiUrl: 'any' });
  const { clientId, clientSecret, authorizationParameters } = options;
  const { name = 'GitHub', scopes = ['read:user', 'user:email'] } = options;
  const site = siteOf('github', 'url', options.url ?? 'https://github.com');
  const issuer = `${site}/login/oauth`;
  const api = new GithubApi(siteOf('github', 'apiUrl', options.apiUrl ?? apiOf(site)), options);
  return {
    name,
    issuer,
    clientId,
    clientSecret,
    authorizationParameters,
    scopes,
    authentication: 'client_secret_post',
    endpoints: { authorization: `${issuer}/authorize`, token: `${issuer}/access_token` },
    async identify({ accessToken }, { fetch }) {
      const found = await api.check(accessToken, fetch);
      if (found === undefined) throw new Error('The token is not a token of this app.');
      const [profile, email] = [await api.profile(accessToken, fetch), await api.email(accessToken, fetch)];
      const { id, login } = found;
      if (profile['id'] !== id) throw new Error('The API described another user.');
      const { name: fullName, avatar_url, html_url } = profile;
      return {
        issuer,
        subject: String(id),
        email,
        claims: withoutEmpty({ login, name: fullName, picture: avatar_url, profile: html_url }),
      };
    },
    isValid: async ({ accessToken }, { fetch }) => (await api.check(accessToken, fetch)) !== undefined,
    revoke: (tokens, { fetch }) => api.revoke(tokens, fetch),
  };
}

function apiOf(site: string): string {
  const { protocol, host } = new URL(site);
  if (host === 'github.com' || host.endsWith('.ghe.com')) return `${protocol}//api.${host}`;
  return `${site}/api/v3`;
}

function withoutEmpty(claims: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(claims).filter((one): one is [string, string] => Boolean(one[1])));
}

/** The parts of GitHub's API that a login needs. */
class GithubApi {
  readonly #url: string;
  readonly #app: string;
  readonly #credentials: string;
  readonly #headers = { accept: 'application/vnd.github+json' };

  constructor(url: string, { clientId, clientSecret }: GithubUpstreamOptions) {
    this.#url = url;
    this.#app = `${url}/applications/${encodeURIComponent(clientId)}/token`;
    this.#credentials = basicCredentials(clientId, clientSecret);
  }

  /** The user of a token; undefined if the token has ended, or is of another app: the profile alone does not tell. */
  async check(token: string, fetch: SafeFetch): Promise<JsonObject | undefined> {
    const { status, body } = await this.#manage('POST', token, fetch);
    // All other replies, such as 422 for too many requests, say nothing about the token.
    if (status === 404) return undefined;
    const user = body?.['user'];
    if (status !== 200 || !isObject(user) || typeof user['id'] !== 'number')
      throw new Error(`The API replied to the check of a token with ${status}.`);
    return user;
  }

  async profile(token: string, fetch: SafeFetch): Promise<JsonObject> {
    const { status, body } = await readApi(fetch, `${this.#url}/user`, { token, headers: this.#headers });
    if (status !== 200 || body === undefined)
      throw new Error(`The API replied to the profile with ${status}.`);
    return body;
  }

  /** The address that the user prefers; undefined if it is not verified, or the token may not read it. */
  async email(token: string, fetch: SafeFetch): Promise<string | undefined> {
    const url = `${this.#url}/user/emails?per_page=100`;
    const { status, items } = await readApi(fetch, url, { token, headers: this.#headers });
    if (status >= 500) throw new Error(`The API replied to the email addresses with ${status}.`);
    const primary = items.filter(isObject).find((one) => one['primary'] === true && one['verified'] === true);
    return typeof primary?.['email'] === 'string' ? primary['email'] : undefined;
  }

  async revoke({ accessToken }: UpstreamTokens, fetch: SafeFetch): Promise<void> {
    const { status } = await this.#manage('DELETE', accessToken, fetch);
    if (![204, 404, 422].includes(status)) throw new Error(`The API replied to a revocation with ${status}.`);
  }

  #manage(method: string, token: string, fetch: SafeFetch): ReturnType<typeof readApi> {
    const headers = { ...this.#headers, authorization: this.#credentials };
    return readApi(fetch, this.#app, { method, headers, json: { access_token: token } });
  }
}
