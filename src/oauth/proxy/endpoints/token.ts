import type { JsonObject } from '../../../jsonrpc/message.js';
import { authenticateClient } from '../clients/authentication.js';
import type { ProxyClient } from '../clients/client.js';
import { ACCESS_TOKEN_PREFIX } from '../tokens/access-tokens.js';
import type { LoginGrant } from '../tokens/grant.js';
import { OAuthError } from '../tokens/oauth-error.js';
import { checkResource } from './authorization-request.js';
import { jsonReply, readForm } from './http.js';
import { endpointUrl, type ProxyParts } from './parts.js';

// The endpoints that clients call themselves: codes and refresh tokens become access tokens, and tokens are revoked.

/** Issues tokens for a code or a refresh token. */
export async function token(request: Request, parts: ProxyParts): Promise<Response> {
  const form = await readForm(request);
  const client = await clientOf(request, form, parts);
  checkResource(form.get('resource'), parts.addresses.resource);
  switch (form.get('grant_type')) {
    case 'authorization_code':
      return redeemCode(form, client, parts);
    case 'refresh_token':
      return refresh(form, client, parts);
    case undefined:
      throw new OAuthError('invalid_request', 'grant_type is missing.');
    default:
      throw new OAuthError(
        'unsupported_grant_type',
        'grant_type must be authorization_code or refresh_token.',
      );
  }
}

/** Revokes the login of a token (RFC 7009). A token that is not known is not an error. */
export async function revoke(request: Request, parts: ProxyParts): Promise<Response> {
  const form = await readForm(request);
  const client = await clientOf(request, form, parts);
  const presented = form.get('token');
  if (presented === undefined) throw new OAuthError('invalid_request', 'token is missing.');
  const { grants, accessTokens } = parts;
  const id = presented.startsWith(ACCESS_TOKEN_PREFIX) ? await accessTokens.grantIdOf(presented) : undefined;
  const grant = id === undefined ? await grants.grantOf(presented) : await grants.find(id);
  if (grant?.clientId === client.id) await grants.revoke(grant);
  return jsonReply({});
}

async function redeemCode(
  form: ReadonlyMap<string, string>,
  client: ProxyClient,
  parts: ProxyParts,
): Promise<Response> {
  const code = form.get('code');
  if (code === undefined) throw new OAuthError('invalid_request', 'code is missing.');
  const grant = await parts.grants.redeem({
    code,
    clientId: client.id,
    redirectUri: form.get('redirect_uri'),
    verifier: form.get('code_verifier'),
  });
  await extend(client, parts);
  return tokenReply({ grant, generation: 0, scopes: grant.scopes }, parts);
}

async function refresh(
  form: ReadonlyMap<string, string>,
  client: ProxyClient,
  parts: ProxyParts,
): Promise<Response> {
  const refreshToken = form.get('refresh_token');
  if (refreshToken === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing.');
  const scope = form.get('scope')?.split(' ');
  const { grant, generation } = await parts.grants.refresh(refreshToken, {
    clientId: client.id,
    async verify(found) {
      // Checked before the rotation, so that the client keeps its token if it asked for too much.
      if (scope?.some((one) => !found.scopes.includes(one)))
        throw new OAuthError('invalid_scope', 'scope must not contain more than the user allowed.');
      await parts.keeper.verify(found);
    },
  });
  await extend(client, parts);
  const scopes = scope === undefined ? grant.scopes : grant.scopes.filter((one) => scope.includes(one));
  return tokenReply({ grant, generation, scopes }, parts);
}

/** Extends the registration of a client. A failure must not cost the client its tokens: the code is used by now. */
async function extend(client: ProxyClient, { clients, log }: ProxyParts): Promise<void> {
  try {
    await clients.extend(client);
  } catch (error) {
    log('warning', 'The registration of a client could not be extended.', error);
  }
}

async function tokenReply(
  {
    grant,
    generation,
    scopes,
  }: { readonly grant: LoginGrant; readonly generation: number; readonly scopes: readonly string[] },
  { accessTokens, grants }: ProxyParts,
): Promise<Response> {
  const access = await accessTokens.issue(grant, scopes);
  const body: JsonObject = {
    access_token: access.token,
    token_type: 'Bearer',
    expires_in: access.expiresIn,
    ...(grant.mayRefresh && { refresh_token: await grants.refreshToken(grant, generation) }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
  return jsonReply(body);
}

function clientOf(
  request: Request,
  form: ReadonlyMap<string, string>,
  { clients, records, clientKeys, addresses }: ProxyParts,
): Promise<ProxyClient> {
  return authenticateClient(form, request.headers.get('authorization'), {
    clients,
    records,
    keys: clientKeys,
    audiences: [addresses.issuer, endpointUrl(addresses, 'token')],
  });
}
