import { openId, type UpstreamOptions } from '../upstream/open-id.js';
import { identifyByIdToken } from '../upstream/open-id-user.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset } from './preset.js';

/** The options of `google`. */
export interface GoogleUpstreamOptions extends UpstreamOptions {
  /** The secret of the OAuth client, which must be of the type "Web application". */
  readonly clientSecret: string;
  /** The domain of a Google Workspace organization whose members alone may log in, such as `example.com`. Default: everyone may. */
  readonly hostedDomain?: string | undefined;
  /** The scopes to ask for. Those of Google's APIs are URLs. `openid` is always among them. Default: `openid`, `profile`, `email`. */
  readonly scopes?: readonly string[] | undefined;
}

const ISSUER = 'https://accounts.google.com';
const REVOCATION = 'https://oauth2.googleapis.com/revoke';

/**
 * Lets users log in with Google. Create an OAuth client of the type "Web application" in the Google Cloud console, with
 * `<issuer>/callback` as its redirect URI.
 *
 * - Access tokens of Google are opaque, so the user is identified by the ID token.
 * - Google issues a refresh token only for `access_type=offline`, and a second one only after another consent, so both are asked for.
 * - While the consent screen is in the state "Testing", refresh tokens end after 7 days, and so do logins.
 * @example
 * ```ts
 * const upstream = google({ clientId, clientSecret, hostedDomain: 'example.com' });
 * ```
 */
export function google(options: GoogleUpstreamOptions): UpstreamProvider {
  checkPreset('google', options, { hostedDomain: 'any' });
  const { hostedDomain, authorizationParameters, ...registration } = options;
  const provider = openId({
    name: 'Google',
    ...registration,
    issuer: ISSUER,
    authentication: 'client_secret_post',
    authorizationParameters: {
      access_type: 'offline',
      prompt: 'consent',
      ...(hostedDomain !== undefined && { hd: hostedDomain }),
      ...authorizationParameters,
    },
  });
  return {
    ...provider,
    async identify(login, context) {
      // Google may leave the scheme out. The name of the issuer must not depend on that.
      const user = await identifyByIdToken(login, context, { issuer: [ISSUER, 'accounts.google.com'] });
      return { ...user, issuer: ISSUER, claims: { ...user.claims, iss: ISSUER } };
    },
    // The parameter `hd` only chooses the accounts that Google offers: users can change it.
    ...(hostedDomain !== undefined && { accepts: ({ claims }) => claims?.['hd'] === hostedDomain }),
    async revoke({ refreshToken, accessToken }, { fetch, server }) {
      // Its endpoint takes the token alone. A token that has ended gets 400, which is as good.
      const body = new URLSearchParams({ token: refreshToken ?? accessToken });
      const { status } = await fetch(server.revocation_endpoint ?? REVOCATION, { method: 'POST', body });
      if (status >= 500) throw new Error(`The revocation endpoint replied with ${status}.`);
    },
  };
}
