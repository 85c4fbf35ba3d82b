import { type OpenIdFacts, openIdRoutes } from './open-id.js';
import type { StandInTools, UpstreamRoutes } from './stand-in.js';

export const TOKEN = 'https://oauth2.googleapis.com/token';
export const REVOKE = 'https://oauth2.googleapis.com/revoke';

/**
 * Google: endpoints on several hosts, the secret in the body, opaque tokens, a refresh token only for `access_type=offline` with a
 * new consent, the same one forever, `iss` in the redirect, and a revocation endpoint that takes a token and nothing else.
 */
export function googleRoutes(facts: Partial<OpenIdFacts> = {}): (tools: StandInTools) => UpstreamRoutes {
  return (tools) => ({
    ...openIdRoutes(tools, {
      issuer: 'https://accounts.google.com',
      authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
      token: TOKEN,
      jwks: 'https://www.googleapis.com/oauth2/v3/certs',
      userinfo: 'https://openidconnect.googleapis.com/v1/userinfo',
      revocation: REVOKE,
      discovery: 'https://accounts.google.com/.well-known/openid-configuration',
      metadata: { authorization_response_iss_parameter_supported: true },
      method: 'post',
      claims: {
        azp: 'the-client-id',
        sub: '110169484474386276334',
        hd: 'example.com',
        email: 'ann@example.com',
        email_verified: true,
        name: 'Ann',
        at_hash: 'HK6E_P6Dh8Y93mRNtsDB1Q',
      },
      refuse: (query) =>
        query.has('resource') || query.get('scope')?.includes('offline') ? 'invalid_request' : undefined,
      redirect: { iss: 'https://accounts.google.com', authuser: '0', prompt: 'consent' },
      issuesRefreshToken: (query) =>
        query.get('access_type') === 'offline' && query.get('prompt') === 'consent',
      ...facts,
    }),
    [`POST ${REVOKE}`]: ({ form, header }) =>
      [...form.keys()].join() === 'token' && header('authorization') === undefined
        ? { json: {} }
        : { status: 400, json: { error: 'invalid_request' } },
  });
}
