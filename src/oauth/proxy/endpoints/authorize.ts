import { generateRandomCodeVerifier } from 'oauth4webapi';
import { redirectTargetOf } from '../clients/redirect-uris.js';
import { consentPage } from '../pages/consent-page.js';
import { errorPage, leavePage, returnPage } from '../pages/message-pages.js';
import { OAuthError } from '../tokens/oauth-error.js';
import { digestText, randomToken } from '../tokens/random.js';
import { UpstreamError } from '../upstream/upstream-error.js';
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
  redirectUriOf,
  requestFromJson,
  requestToJson,
} from './authorization-request.js';
import { bindBrowser, browserOf, isRemembered, rememberCookie } from './browser.js';
import { readForm, readParameters, redirectReply, withParameters } from './http.js';
import type { ProxyParts } from './parts.js';

// From the client's request to the login page of the provider.

/** A longer query does not fit into the head of a request everywhere. */
const MAX_QUERY = 6000;
const CONSENT_MS = 15 * 60 * 1000;
/** How long a user may take at the provider. */
const LOGIN_MS = 15 * 60 * 1000;

/** Checks a request for authorization and asks the user, unless this browser remembers the answer. */
export async function authorize(request: Request, parts: ProxyParts): Promise<Response> {
  const parameters =
    request.method === 'POST' ? await readForm(request) : readParameters(new URL(request.url).searchParams);
  // A form of another site arrives without the cookie (SameSite=Lax), and a new one would end a login that is under way in this browser. The
  // browser sends its cookie when it is sent here again with GET.
  if (request.method === 'POST' && browserOf(request, parts) === undefined) {
    const query = new URLSearchParams([...parameters]).toString();
    if (query.length <= MAX_QUERY) return redirectReply(`?${query}`);
  }
  const clientId = parameters.get('client_id');
  if (clientId === undefined) throw new OAuthError('invalid_request', 'The request has no client_id.');
  const client = await parts.clients.find(clientId);
  const redirectUri = redirectUriOf(parameters, client);
  try {
    const wanted = readAuthorizationRequest(parameters, { clientId, redirectUri }, parts);
    const { browser, cookie } = bindBrowser(request, parts);
    if (await isRemembered(request, wanted, parts))
      return redirectReply(await startLogin(wanted, browser, parts), [cookie]);
    const { addresses, scopes, serverName, upstream } = parts;
    return await consentPage({
      client,
      redirectUri,
      scopes: new Map(wanted.scopes.map((scope) => [scope, scopes.get(scope) ?? ''])),
      server: serverName,
      host: new URL(addresses.resource).host,
      provider: upstream.provider.name,
      request: await parts.sealer.sealFor(CONSENT_MS, 'consent', requestToJson(wanted), browser),
      cookies: [cookie],
    });
  } catch (error) {
    const known = toOAuthError(error, parts.log);
    const to = errorRedirect(known, { redirectUri, state: parameters.get('state') }, parts);
    if (mayLeaveUnasked({ clientId, redirectUri }, parts)) return redirectReply(to);
    const { name: host } = redirectTargetOf(redirectUri);
    return returnPage({ status: 400, title: 'This login cannot continue', message: known.message, to, host });
  }
}

/** Takes the decision of the user. The form works only in the browser that it was made for. */
export async function consent(request: Request, parts: ProxyParts): Promise<Response> {
  if (!isOurForm(request, parts)) return foreignForm();
  const form = await readForm(request);
  const browser = browserOf(request, parts);
  const sealed = form.get('request');
  if (browser === undefined || sealed === undefined) return foreignForm();
  const opened = await parts.sealer.openFresh('consent', sealed, browser);
  if (opened === undefined) return foreignForm();
  const wanted = requestFromJson(opened);
  if (form.get('decision') !== 'allow') {
    const denied = new OAuthError('access_denied', 'The user did not allow the access.');
    const to = errorRedirect(denied, wanted, parts);
    const title = 'You did not allow the access';
    if (mayLeaveUnasked(wanted, parts)) return leavePage({ to, label: title });
    const { name: host } = redirectTargetOf(wanted.redirectUri);
    return returnPage({ title, message: 'The application got nothing. You can close this page.', to, host });
  }
  try {
    const to = await startLogin(wanted, browser, parts);
    const remember =
      form.get('remember') === 'yes' ? await rememberCookie(request, wanted, parts) : undefined;
    const cookies = remember === undefined ? [] : [remember];
    return await leavePage({ to, label: `On the way to ${parts.upstream.provider.name}`, cookies });
  } catch (error) {
    return leavePage({ to: errorRedirect(error, wanted, parts), label: 'The login failed' });
  }
}

/** Stores a login and returns the address where the user logs in. */
async function startLogin(wanted: AuthorizationRequest, browser: string, parts: ProxyParts): Promise<string> {
  const { records, upstream } = parts;
  const state = randomToken();
  const secrets = { state, verifier: generateRandomCodeVerifier(), nonce: randomToken() };
  const url = await upstream.authorizationUrl(secrets);
  const value = {
    request: requestToJson(wanted),
    verifier: secrets.verifier,
    nonce: secrets.nonce,
    browser: await digestText(browser),
  };
  const put = await records.put('oauth-login', state, { value, if: 'absent', ttlMs: LOGIN_MS });
  if (!(await records.write([put])).ok)
    throw new OAuthError('server_error', 'The login could not be stored.');
  return url;
}

/** The address that tells a client about an error. */
export function errorRedirect(
  error: unknown,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  { addresses, log }: Pick<ProxyParts, 'addresses' | 'log'>,
): string {
  const known = toOAuthError(error, log);
  return withParameters(redirectUri, {
    error: known.code,
    error_description: known.message,
    state,
    iss: addresses.issuer,
  });
}

/** The error that a client is told. Everything else goes to the log. */
export function toOAuthError(error: unknown, log: ProxyParts['log']): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof UpstreamError) {
    log('error', `The proxy could not use its provider. ${error.message}`, error.cause);
    return new OAuthError('temporarily_unavailable', 'The provider cannot be used now. Retry later.');
  }
  log('error', 'An endpoint of the authorization proxy failed.', error);
  return new OAuthError('temporarily_unavailable', 'The authorization server failed. Retry later.');
}

/**
 * Whether the browser may be sent on although the user has not agreed to it. Anyone can register any website, and could otherwise
 * send people there with a link to this server, which they trust (RFC 9700, section 4.11.2).
 */
function mayLeaveUnasked(
  { clientId, redirectUri }: Pick<AuthorizationRequest, 'clientId' | 'redirectUri'>,
  { clients }: ProxyParts,
): boolean {
  return clients.isKnown(clientId) || redirectTargetOf(redirectUri).kind !== 'website';
}

/** Browsers name the origin of a form. Where they do not, the cookie and the sealed request have to be enough. */
function isOurForm(request: Request, { addresses }: ProxyParts): boolean {
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  return (origin === null || origin === addresses.origin) && (site === null || site === 'same-origin');
}

function foreignForm(): Promise<Response> {
  return errorPage({
    status: 403,
    title: 'This form cannot be used',
    message: 'It has expired, was opened in another browser, or came from another site.',
    advice:
      'Close this page, go back to the application, and start the login again. The browser has to accept cookies.',
  });
}
