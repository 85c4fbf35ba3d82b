import { randomBytes } from 'node:crypto';
import { type Answer, basicOf, type Issued, type Provider } from './stand-in.js';

const EMAIL = 'https://www.googleapis.com/auth/userinfo.email';

/**
 * Google: only the OpenID document, no registration, a secret also for installed programs, opaque tokens, `resource` ignored, a
 * refresh token only with `access_type=offline` and never a second one, scopes that come back under another name, and a
 * revocation that refuses what is revoked already.
 */
export function google(origin: string, issued: Issued): Provider {
  const refreshTokens = new Map<string, string>();
  const refuse = (error: string): Answer => ({
    status: 400,
    json: { error, error_description: 'Bad Request' },
  });

  function tokens(): { access_token: string; expires_in: number; scope: string; token_type: string } {
    const scope = `openid ${EMAIL}`;
    return { access_token: issued.token('ya29.'), expires_in: 3599, scope, token_type: 'Bearer' };
  }

  return {
    issuer: origin,
    scopes: ['openid', 'email'],
    routes: {
      'GET /.well-known/openid-configuration': () => ({
        json: {
          issuer: origin,
          authorization_endpoint: `${origin}/o/oauth2/v2/auth`,
          token_endpoint: `${origin}/token`,
          revocation_endpoint: `${origin}/revoke`,
          scopes_supported: ['openid', 'email', 'profile'],
          code_challenge_methods_supported: ['plain', 'S256'],
          token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
        },
      }),
      'GET /o/oauth2/v2/auth': ({ query }) =>
        issued.redirect(query, { scope: `email ${EMAIL} openid`, authuser: '0', prompt: 'consent' }),
      'POST /token'(asked) {
        const { form } = asked;
        if (basicOf(asked) !== 'google-client:google-secret')
          return { status: 401, json: { error: 'invalid_client' } };
        if (form.get('grant_type') === 'refresh_token') {
          if (!refreshTokens.has(form.get('refresh_token') ?? '')) return refuse('invalid_grant');
          return { json: { ...tokens(), id_token: 'not.a.token' } };
        }
        const query = issued.redeem(form);
        if (query === undefined) return refuse('invalid_grant');
        const answer = tokens();
        if (query.get('access_type') !== 'offline') return { json: answer };
        const refreshToken = `1//${randomBytes(12).toString('hex')}`;
        refreshTokens.set(refreshToken, answer.access_token);
        return { json: { ...answer, refresh_token: refreshToken } };
      },
      'POST /revoke'({ form }) {
        const token = form.get('token') ?? '';
        const accessToken = refreshTokens.get(token);
        if (accessToken !== undefined) {
          refreshTokens.delete(token);
          issued.tokens.delete(accessToken);
          return { json: {} };
        }
        return issued.tokens.delete(token)
          ? { json: {} }
          : { status: 400, json: { error: 'invalid_token', error_description: 'Token expired or revoked' } };
      },
    },
  };
}
