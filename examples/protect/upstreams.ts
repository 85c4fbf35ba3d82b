import {
  auth0,
  clerk,
  cognito,
  discord,
  entra,
  github,
  gitlab,
  google,
  keycloak,
  type OAuthProxy,
  oauthProxy,
  okta,
  type UpstreamProvider,
  workos,
} from 'fullmcp/oauth-proxy';

// The providers of docs/oauth-proxy.md, one by one. Each is an `upstream` of oauthProxy.

/** The registration of this server at a provider. */
interface Registration {
  readonly clientId: string;
  readonly clientSecret: string;
}

export function withGithub({ clientId, clientSecret }: Registration): OAuthProxy {
  // #region proxy
  const auth = oauthProxy({
    upstream: github({ clientId, clientSecret }),
    publicUrl: 'https://mcp.example.com/mcp',
    scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Add notes for you' },
    admit: ({ user }) => ['583231', '480938'].includes(user.subject), // ids: names can change owners
  });
  // #endregion
  return auth;
}

export function ofGoogle({ clientId, clientSecret }: Registration): UpstreamProvider {
  // #region google
  const upstream = google({ clientId, clientSecret, hostedDomain: 'example.com' });
  // #endregion
  return upstream;
}

export function ofGithub({ clientId, clientSecret }: Registration): UpstreamProvider {
  // #region github
  const upstream = github({ clientId, clientSecret });
  // #endregion
  return upstream;
}

export function ofEntra({ clientId, clientSecret }: Registration): UpstreamProvider {
  // #region entra
  const upstream = entra({ tenant: '8f1c0e2a-6f4d-4f43-9d0a-0c1b2a3d4e5f', clientId, clientSecret });
  // #endregion
  return upstream;
}

export function ofGitlab({ clientId, clientSecret }: Registration): UpstreamProvider {
  // #region gitlab
  const upstream = gitlab({ clientId, clientSecret }); // url: 'https://gitlab.example.com' for your own GitLab
  // #endregion
  return upstream;
}

export function ofDiscord({ clientId, clientSecret }: Registration): UpstreamProvider {
  // #region discord
  const upstream = discord({ clientId, clientSecret });
  // #endregion
  return upstream;
}

export function ofOthers(registration: Registration): UpstreamProvider[] {
  // #region others
  const upstreams = [
    auth0({ domain: 'example.eu.auth0.com', ...registration }), // { clientId, clientSecret }
    clerk({ domain: 'example.clerk.accounts.dev', ...registration }),
    cognito({ region: 'eu-central-1', userPoolId: 'eu-central-1_AbCdEfGhI', ...registration }),
    keycloak({ url: 'https://login.example.com', realm: 'staff', ...registration }),
    okta({ domain: 'example.okta.com', ...registration }),
    workos({ domain: 'example.authkit.app', ...registration }),
  ];
  // #endregion
  return upstreams;
}
