import { randomBytes } from 'node:crypto';
import { type Issued, type Provider, redirectTo } from './stand-in.js';

/**
 * Keycloak with resource indicators: metadata only at the appended address, `iss` in redirects, `resource` must be the same in
 * both requests, answers with members of its own, refresh tokens for one use, and clients that may register only from hosts that
 * an administrator trusts.
 */
export function keycloak({ trustsHosts = true }: { readonly trustsHosts?: boolean } = {}) {
  return (origin: string, issued: Issued): Provider => {
    const issuer = `${origin}/realms/mcp`;
    const at = '/realms/mcp/protocol/openid-connect';
    const refreshTokens = new Set<string>();

    function tokens(scope: string) {
      const refreshToken = randomBytes(12).toString('hex');
      refreshTokens.add(refreshToken);
      return {
        json: {
          access_token: issued.token(),
          expires_in: 300,
          refresh_expires_in: 0,
          refresh_token: refreshToken,
          token_type: 'Bearer',
          id_token: 'not.a.token',
          'not-before-policy': 0,
          session_state: randomBytes(8).toString('hex'),
          scope,
        },
      };
    }

    return {
      issuer,
      scopes: ['mcp:tools'],
      routes: {
        'GET /realms/mcp/.well-known/openid-configuration': () => ({
          json: {
            issuer,
            authorization_endpoint: `${origin}${at}/auth`,
            token_endpoint: `${origin}${at}/token`,
            revocation_endpoint: `${origin}${at}/revoke`,
            registration_endpoint: `${issuer}/clients-registrations/openid-connect`,
            scopes_supported: ['openid', 'offline_access', 'mcp:tools'],
            code_challenge_methods_supported: ['plain', 'S256'],
            grant_types_supported: ['authorization_code', 'refresh_token', 'password', 'client_credentials'],
            token_endpoint_auth_methods_supported: [
              'private_key_jwt',
              'client_secret_basic',
              'client_secret_post',
            ],
            authorization_response_iss_parameter_supported: true,
          },
        }),
        'POST /realms/mcp/clients-registrations/openid-connect': ({ body }) =>
          trustsHosts
            ? {
                status: 201,
                json: {
                  ...JSON.parse(body),
                  client_id: 'e3f2',
                  client_secret: 'registered-secret',
                  client_secret_expires_at: 0,
                  registration_access_token: 'unused',
                },
              }
            : {
                status: 403,
                json: {
                  error: 'insufficient_scope',
                  error_description:
                    "Policy 'Trusted Hosts' rejected request to client-registration service. Details: Host not trusted.",
                },
              },
        [`GET ${at}/auth`]: ({ query }) =>
          query.get('resource') === `${origin}/mcp`
            ? issued.redirect(query, { session_state: 's', iss: issuer })
            : redirectTo(query, { error: 'invalid_target', iss: issuer }),
        [`POST ${at}/token`]({ form }) {
          if (form.get('grant_type') === 'refresh_token') {
            if (refreshTokens.delete(form.get('refresh_token') ?? '')) return tokens('openid mcp:tools');
            const error_description = 'Maximum allowed refresh token reuse exceeded';
            return { status: 400, json: { error: 'invalid_grant', error_description } };
          }
          const query = issued.redeem(form);
          if (query === undefined) return { status: 400, json: { error: 'invalid_grant' } };
          if (query.get('resource') !== form.get('resource'))
            return { status: 400, json: { error: 'invalid_target' } };
          return tokens(query.get('scope') ?? '');
        },
        [`POST ${at}/revoke`]: ({ form }) => {
          refreshTokens.delete(form.get('token') ?? '');
          issued.tokens.delete(form.get('token') ?? '');
          return { status: 200 };
        },
      },
    };
  };
}
