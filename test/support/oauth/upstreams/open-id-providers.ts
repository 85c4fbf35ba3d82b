import { CLIENT_ID, type OpenIdFacts } from './open-id.js';

// OpenID providers, as their documentation describes them. All refuse `resource`, which not one of them was asked to understand.

const refuse = (query: URLSearchParams): string | undefined =>
  query.has('resource') ? 'invalid_target' : undefined;
const offline = (query: URLSearchParams): boolean =>
  query.get('scope')?.split(' ').includes('offline_access') ?? false;

/** Auth0: a slash at the end of the issuer, the secret in the body, `audience`, and refresh tokens for one use. */
export const auth0Facts: OpenIdFacts = {
  issuer: 'https://tenant.eu.auth0.com/',
  authorization: 'https://tenant.eu.auth0.com/authorize',
  token: 'https://tenant.eu.auth0.com/oauth/token',
  jwks: 'https://tenant.eu.auth0.com/.well-known/jwks.json',
  userinfo: 'https://tenant.eu.auth0.com/userinfo',
  revocation: 'https://tenant.eu.auth0.com/oauth/revoke',
  discovery: 'https://tenant.eu.auth0.com/.well-known/openid-configuration',
  method: 'post',
  claims: { sub: 'auth0|5f7c8ec7', email: 'ann@example.com', email_verified: true, sid: 's' },
  issuesRefreshToken: offline,
  rotates: true,
  refuse,
};

const okta = 'https://example.okta.com/oauth2/default';
/** Okta: a short ID token, with the email address at the userinfo endpoint, and refresh tokens for one use. */
export const oktaFacts: OpenIdFacts = {
  issuer: okta,
  authorization: `${okta}/v1/authorize`,
  token: `${okta}/v1/token`,
  jwks: `${okta}/v1/keys`,
  userinfo: `${okta}/v1/userinfo`,
  revocation: `${okta}/v1/revoke`,
  discovery: `${okta}/.well-known/openid-configuration`,
  metadata: {
    token_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      'client_secret_jwt',
      'private_key_jwt',
      'none',
    ],
  },
  method: 'basic',
  claims: { sub: '00uid4BxXw6I6TV4m0g3', ver: 1, idp: '00o1' },
  user: { sub: '00uid4BxXw6I6TV4m0g3', email: 'ann@example.com', email_verified: true },
  issuesRefreshToken: offline,
  rotates: true,
  refuse,
};

const realm = 'https://login.example.com/realms/my%20realm';
/** Keycloak: `iss` in redirects, claims of its own in ID tokens, and refresh tokens without `offline_access`. */
export const keycloakFacts: OpenIdFacts = {
  issuer: realm,
  authorization: `${realm}/protocol/openid-connect/auth`,
  token: `${realm}/protocol/openid-connect/token`,
  jwks: `${realm}/protocol/openid-connect/certs`,
  userinfo: `${realm}/protocol/openid-connect/userinfo`,
  revocation: `${realm}/protocol/openid-connect/revoke`,
  discovery: `${realm}/.well-known/openid-configuration`,
  metadata: { authorization_response_iss_parameter_supported: true },
  method: 'basic',
  claims: { sub: '5f9d', typ: 'ID', azp: CLIENT_ID, email: 'ann@example.com', email_verified: true },
  redirect: { iss: realm, session_state: 's' },
  reply: { refresh_expires_in: 1800, 'not-before-policy': 0, session_state: 's' },
  rotates: true,
  refuse,
};

const pool = 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEfGhI';
const login = 'https://example.auth.eu-central-1.amazoncognito.com/oauth2';
/** Cognito: endpoints on another host than the issuer, PKCE that is not announced, and no `offline_access`. */
export const cognitoFacts: OpenIdFacts = {
  issuer: pool,
  authorization: `${login}/authorize`,
  token: `${login}/token`,
  jwks: `${pool}/.well-known/jwks.json`,
  userinfo: `${login}/userInfo`,
  revocation: `${login}/revoke`,
  discovery: `${pool}/.well-known/openid-configuration`,
  metadata: { code_challenge_methods_supported: null },
  method: 'basic',
  claims: {
    sub: 'aaaaaaaa-bbbb',
    token_use: 'id',
    email: 'ann@example.com',
    email_verified: true,
    'cognito:groups': ['admins'],
  },
  refuse: (query) => (offline(query) ? 'invalid_scope' : refuse(query)),
};

const authKit = 'https://example.authkit.app';
/** WorkOS AuthKit: a document for OpenID that does not announce PKCE. */
export const workosFacts: OpenIdFacts = {
  issuer: authKit,
  authorization: `${authKit}/oauth2/authorize`,
  token: `${authKit}/oauth2/token`,
  jwks: `${authKit}/oauth2/jwks`,
  userinfo: `${authKit}/oauth2/userinfo`,
  discovery: `${authKit}/.well-known/openid-configuration`,
  metadata: { code_challenge_methods_supported: null },
  method: 'post',
  claims: { sub: 'user_01J5', email: 'ann@example.com', email_verified: true },
  issuesRefreshToken: offline,
  refuse,
};

const instance = 'https://example.clerk.accounts.dev';
/** Clerk: refresh tokens only for `offline_access`. */
export const clerkFacts: OpenIdFacts = {
  issuer: instance,
  authorization: `${instance}/oauth/authorize`,
  token: `${instance}/oauth/token`,
  jwks: `${instance}/.well-known/jwks.json`,
  userinfo: `${instance}/oauth/userinfo`,
  discovery: `${instance}/.well-known/openid-configuration`,
  method: 'basic',
  claims: { sub: 'user_2', email: 'ann@example.com', email_verified: true },
  issuesRefreshToken: offline,
  refuse,
};

/** GitLab: opaque tokens, and a refresh that replaces both. */
export function gitlabFacts(site = 'https://gitlab.com'): OpenIdFacts {
  return {
    issuer: site,
    authorization: `${site}/oauth/authorize`,
    token: `${site}/oauth/token`,
    jwks: `${site}/oauth/discovery/keys`,
    userinfo: `${site}/oauth/userinfo`,
    revocation: `${site}/oauth/revoke`,
    method: 'post',
    claims: { sub: '42', email: 'ann@example.com', email_verified: true, groups_direct: ['team'] },
    refuse: (query) => (offline(query) ? 'invalid_scope' : refuse(query)),
    reply: { created_at: 1_700_000_000 },
    rotates: true,
  };
}
