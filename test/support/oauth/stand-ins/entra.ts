import { randomBytes } from 'node:crypto';
import { type Issued, type Provider, redirectTo } from './stand-in.js';

const TENANT = '11111111-2222-3333-4444-555555555555';

/**
 * Entra ID: metadata only at the appended address, no registration, PKCE that is not announced, `resource` refused, and with the
 * tenant `common` an issuer in the metadata that nobody asked for.
 */
export function entra({ tenant = TENANT }: { readonly tenant?: string } = {}) {
  return (origin: string, issued: Issued): Provider => {
    const issuer = `${origin}/${tenant}/v2.0`;
    const fail = (error: string, error_description: string) => ({
      status: 400,
      json: {
        error,
        error_description,
        error_codes: [Number(error_description.slice(5, 12))],
        trace_id: 'b1',
      },
    });
    return {
      issuer,
      scopes: ['api://mcp/tools.call'],
      routes: {
        [`GET /${tenant}/v2.0/.well-known/openid-configuration`]: () => ({
          json: {
            issuer: tenant === 'common' ? `${origin}/{tenantid}/v2.0` : issuer,
            authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/authorize`,
            token_endpoint: `${origin}/${tenant}/oauth2/v2.0/token`,
            token_endpoint_auth_methods_supported: [
              'client_secret_post',
              'private_key_jwt',
              'client_secret_basic',
            ],
            scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
            response_types_supported: ['code', 'id_token'],
          },
        }),
        [`GET /${tenant}/oauth2/v2.0/authorize`]: ({ query }) =>
          query.has('resource')
            ? redirectTo(query, {
                error: 'invalid_target',
                error_description:
                  "AADSTS9010010: The resource parameter provided in the request doesn't match with the requested scopes.",
              })
            : issued.redirect(query, { session_state: randomBytes(8).toString('hex') }),
        [`POST /${tenant}/oauth2/v2.0/token`]({ form }) {
          if (form.has('resource'))
            return fail('invalid_request', 'AADSTS901002: The resource parameter is not supported.');
          const query = issued.redeem(form);
          if (query === undefined) return fail('invalid_grant', 'AADSTS7000218: The code has expired.');
          const [scope = ''] = (query.get('scope') ?? '').split(' ');
          return {
            json: {
              token_type: 'Bearer',
              scope,
              expires_in: 4711,
              ext_expires_in: 4711,
              access_token: issued.token('eyJ'),
              refresh_token: randomBytes(12).toString('hex'),
              id_token: 'not.a.token',
            },
          };
        },
      },
    };
  };
}
