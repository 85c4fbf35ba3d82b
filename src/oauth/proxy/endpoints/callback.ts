import type { ProxyClient } from '../clients/client.js';
import { isRegisteredRedirect } from '../clients/redirect-uris.js';
import { errorPage } from '../pages/message-pages.js';
import { OAuthError } from '../tokens/oauth-error.js';
import { digestText, isSameSecret } from '../tokens/random.js';
import type { UpstreamIdentity } from '../upstream/provider.js';
import { toUpstreamError, UpstreamError } from '../upstream/upstream-error.js';
import { type AuthorizationRequest, requestFromJson } from './authorization-request.js';
import { errorRedirect } from './authorize.js';
import { browserOf } from './browser.js';
import { redirectReply, withParameters } from './http.js';
import type { ProxyParts } from './parts.js';

// The one address that the provider sends users back to.

/** Enough for 200 groups, the most that Entra names in a token. */
const MAX_CLAIMS = 16 * 1024;
const MAX_SUBJECT = 512;
const STATE = /^[A-Za-z0-9_-]{43}$/;

/** Ends a login that began in this browser, and sends the user back to the client with a code of ours. */
export async function callback(request: Request, parts: ProxyParts): Promise<Response> {
  const parameters = new URL(request.url).searchParams;
  const state = parameters.get('state') ?? '';
  const login = STATE.test(state) ? await parts.records.read('oauth-login', state) : undefined;
  if (login === undefined) return expiredLogin();
  const { verifier, nonce, browser } = login.value as Record<'verifier' | 'nonce' | 'browser', string>;
  const secret = browserOf(request, parts);
  // A login that someone else has begun would log this user in for them, or them as this user.
  if (secret === undefined || !(await isSameSecret(await digestText(secret), browser))) return otherBrowser();
  const used = await parts.records.write([await parts.records.remove('oauth-login', state, login.version)]);
  if (!used.ok) return expiredLogin();
  const wanted = requestFromJson(login.value['request'] as never);
  const client = await parts.clients.find(wanted.clientId);
  // Its document may have changed since the login began.
  if (!isRegisteredRedirect(client.redirectUris, wanted.redirectUri))
    throw new OAuthError('invalid_request', 'The client has removed the redirect_uri of this login.');
  try {
    const code = await finishLogin(
      wanted,
      { parameters, secrets: { state, verifier, nonce }, client },
      parts,
    );
    const { issuer } = parts.addresses;
    return redirectReply(withParameters(wanted.redirectUri, { code, state: wanted.state, iss: issuer }));
  } catch (error) {
    return redirectReply(errorRedirect(error, wanted, parts));
  }
}

interface UpstreamReply {
  readonly parameters: URLSearchParams;
  readonly secrets: { readonly state: string; readonly verifier: string; readonly nonce: string };
  readonly client: ProxyClient;
}

async function finishLogin(
  wanted: AuthorizationRequest,
  { parameters, secrets, client: { mayRefresh } }: UpstreamReply,
  parts: ProxyParts,
): Promise<string> {
  const { upstream, grants, admit } = parts;
  if (parameters.get('error') === 'access_denied')
    throw new OAuthError('access_denied', 'The user or the provider did not allow the login.');
  const { idToken, reply, ...tokens } = await upstream.redeem(parameters, secrets);
  const user = await identify({ idToken, reply, ...tokens }, secrets.nonce, parts);
  const { clientId, redirectUri, challenge } = wanted;
  const admitted =
    upstream.provider.accepts?.(user) !== false && (await admit({ user, clientId, scopes: wanted.scopes }));
  if (admitted === false) throw new OAuthError('access_denied', 'This user may not use the server.');
  const scopes =
    admitted === true ? wanted.scopes : wanted.scopes.filter((scope) => admitted.includes(scope));
  const now = Date.now();
  return grants.create({
    clientId,
    scopes,
    user,
    upstream: tokens,
    loggedInAt: now,
    confirmedAt: now,
    mayRefresh,
    redirectUri,
    challenge,
  });
}

async function identify(
  login: Parameters<ProxyParts['upstream']['provider']['identify']>[0],
  nonce: string,
  { upstream }: ProxyParts,
): Promise<UpstreamIdentity> {
  const context = await upstream.context(nonce);
  let user: UpstreamIdentity;
  try {
    user = await upstream.provider.identify(login, context);
  } catch (error) {
    throw toUpstreamError(error, 'the login', [login.accessToken, login.refreshToken, login.idToken]);
  }
  const { issuer, subject, email, claims = {} } = user;
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT || issuer === '')
    throw new UpstreamError('The provider did not name the user.');
  if (JSON.stringify(claims).length > MAX_CLAIMS)
    throw new UpstreamError(`The claims about the user have more than ${MAX_CLAIMS} characters.`);
  return { issuer, subject, email, claims };
}

function expiredLogin(): Promise<Response> {
  return errorPage({
    status: 400,
    title: 'This login has expired',
    message: 'It took too long, or it was completed already.',
    advice: 'Go back to the application and start the login again.',
  });
}

function otherBrowser(): Promise<Response> {
  return errorPage({
    status: 403,
    title: 'This login began in another browser',
    message:
      'A login has to end in the browser where it began. Someone may have sent you a link to their own login.',
    advice:
      'If you started it yourself, start it again from the application, in this browser. The browser has to accept cookies.',
  });
}
