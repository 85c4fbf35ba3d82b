import { createPublicKey } from 'node:crypto';
import {
  auth0,
  clerk,
  cognito,
  entra,
  introspection,
  jwt,
  keycloak,
  okta,
  sharedSecretJwt,
  type TokenProvider,
  trustedProxy,
  workos,
} from 'fullmcp/auth';
import { server } from './server.js';

// The providers of docs/providers.md, one by one. Each is an `auth` of createServer, serve or a handler.

const url = 'https://mcp.example.com/mcp';

export function withAuth0(): TokenProvider {
  // #region auth0
  const auth = auth0({
    domain: 'example.eu.auth0.com',
    audience: 'https://mcp.example.com/mcp', // the identifier of the API
    scopes: server.scopes,
  });
  // #endregion
  return auth;
}

export function withClerk(): TokenProvider {
  // #region clerk
  const auth = clerk({ domain: 'example.clerk.accounts.dev', clientIds: ['AbCdEfGhIjKlMnOp'] });
  // #endregion
  return auth;
}

export function withCognito(): TokenProvider {
  // #region cognito
  const auth = cognito({
    region: 'eu-central-1',
    userPoolId: 'eu-central-1_AbCdEfGhI',
    clientIds: ['1example23456789'],
  });
  // #endregion
  return auth;
}

export function withEntra(): TokenProvider {
  // #region entra
  const auth = entra({
    tenant: '8f1c0e2a-6f4d-4f43-9d0a-0c1b2a3d4e5f', // Directory (tenant) ID
    clientId: '2b7d9c11-35e8-4a90-8f6e-7a1c5d0e9b42', // Application (client) ID of this server
    scopes: ['api://2b7d9c11-35e8-4a90-8f6e-7a1c5d0e9b42/notes.read'],
  });
  // #endregion
  return auth;
}

export function withKeycloak(): TokenProvider {
  // #region keycloak
  const auth = keycloak({
    url: 'https://login.example.com',
    realm: 'staff',
    audience: 'https://mcp.example.com/mcp', // as the audience mapper writes it
    scopes: server.scopes,
  });
  // #endregion
  return auth;
}

export function withOkta(): TokenProvider {
  // #region okta
  const auth = okta({
    domain: 'example.okta.com',
    authorizationServer: 'aus1a2b3c4d5e6f7g8h9',
    audience: 'https://mcp.example.com/mcp',
    scopes: server.scopes,
  });
  // #endregion
  return auth;
}

export function withWorkos(): TokenProvider {
  // #region workos
  const auth = workos({ domain: 'example.authkit.app', audience: 'https://mcp.example.com/mcp' });
  // #endregion
  return auth;
}

export function withIssuer(issuer: string, audience = url): TokenProvider {
  // #region jwt
  const auth = jwt({ issuer, audience, scopes: server.scopes });
  // #endregion
  return auth;
}

export function withOwnKeys(pem: string): TokenProvider {
  // #region keys
  const key = createPublicKey(pem).export({ format: 'jwk' });
  const auth = jwt({ issuer: 'my-gateway', audience: url, jwks: { keys: [key] } });
  // #endregion
  return auth;
}

export function withIntrospection(issuer: string, clientSecret: string): TokenProvider {
  // #region introspection
  const auth = introspection({ issuer, clientId: 'mcp-server', clientSecret, audience: url });
  // #endregion
  return auth;
}

export function withSecret(secret: string): TokenProvider {
  // #region secret
  const auth = sharedSecretJwt({ secret, issuer: 'my-company', audience: url });
  // #endregion
  return auth;
}

export function withGateway(secret: string): ReturnType<typeof trustedProxy> {
  // #region gateway
  const auth = trustedProxy({
    header: 'x-authenticated-user',
    scopesHeader: 'x-authenticated-scopes',
    secret: { header: 'x-gateway-secret', value: secret },
  });
  // #endregion
  return auth;
}

export function withProofs(issuer: string): TokenProvider {
  // #region dpop
  const auth = jwt({ issuer, audience: url, dpop: 'required' }); // 'supported' accepts other tokens, too
  // #endregion
  return auth;
}
