import { type OpenIdFacts, openIdRoutes } from './open-id.js';
import type { StandInTools, UpstreamRoutes } from './stand-in.js';

export const TENANT = '11111111-2222-3333-4444-555555555555';
export const OTHER_TENANT = '99999999-2222-3333-4444-555555555555';

/**
 * Entra ID, version 2.0: `resource` is an error, scopes of more than one API are too, refresh tokens only for `offline_access`, no
 * `email_verified`, and issuers that name the tenant of the user, whatever tenant was asked.
 */
export function entraRoutes(
  facts: Partial<OpenIdFacts> & {
    readonly path?: string;
    readonly tid?: string;
    readonly site?: string;
    readonly more?: Readonly<Record<string, unknown>>;
  } = {},
): (tools: StandInTools) => UpstreamRoutes {
  const { path = TENANT, tid = TENANT, site = 'https://login.microsoftonline.com', more, ...rest } = facts;
  return (tools) =>
    openIdRoutes(tools, {
      issuer: `${site}/${tid}/v2.0`,
      authorization: `${site}/${path}/oauth2/v2.0/authorize`,
      token: `${site}/${path}/oauth2/v2.0/token`,
      jwks: `${site}/${path}/discovery/v2.0/keys`,
      method: 'post',
      claims: {
        sub: 'pairwise-subject',
        oid: 'aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb',
        tid,
        ver: '2.0',
        preferred_username: 'ann@example.com',
        email: 'ann@example.com',
        ...more,
      },
      refuse(query) {
        if (query.has('resource')) return 'invalid_target';
        const apis = new Set((query.get('scope') ?? '').match(/api:\/\/[^/ ]+/g));
        return apis.size > 1 ? 'invalid_scope' : undefined;
      },
      redirect: { session_state: '00000000-0000-0000-0000-000000000000' },
      issuesRefreshToken: (query) => query.get('scope')?.split(' ').includes('offline_access') ?? false,
      rotates: true,
      reply: { ext_expires_in: 4711 },
      ...rest,
    });
}
