import { type ClientAuth, connect } from 'fullmcp/client';
import { clientCredentials, enterprise, privateKeyJwt, workloadIdentity } from 'fullmcp/oauth';

// The examples of docs/machine-to-machine.md.

export async function withSecret(url: string, issuer: string, clientSecret: string): Promise<string> {
  // #region secret
  const auth = clientCredentials({ clientId: 'nightly-report', clientSecret, issuer });
  await using client = await connect(url, { auth });
  // #endregion
  return (await client.callTool('read')).text;
}

export function withKey(issuer: string, privateKey: string): ClientAuth {
  // #region key
  const auth = clientCredentials({
    clientId: 'nightly-report',
    authentication: privateKeyJwt({ privateKey, algorithm: 'ES256', keyId: 'one' }),
    issuer,
  });
  // #endregion
  return auth;
}

export function withProofs(issuer: string, clientSecret: string): ClientAuth {
  // #region dpop
  const auth = clientCredentials({ clientId: 'nightly-report', clientSecret, issuer, dpop: true });
  // #endregion
  return auth;
}

export function inCluster(readFile: (path: string) => Promise<string>): ClientAuth {
  // #region workload
  const auth = workloadIdentity({
    clientId: 'nightly-report',
    assertion: () => readFile('/var/run/secrets/tokens/mcp'), // read again for each token
  });
  // #endregion
  return auth;
}

export function inEnterprise(tokenEndpoint: string, session: { idToken: () => Promise<string> }): ClientAuth {
  // #region enterprise
  const auth = enterprise({
    clientId: 'assistant', // at the authorization server of the MCP server
    clientSecret: 'its secret',
    identityProvider: { tokenEndpoint, clientId: 'assistant-at-the-idp' },
    idToken: () => session.idToken(), // of the user who is logged in at the identity provider
  });
  // #endregion
  return auth;
}
