import type { RedirectTarget } from '../clients/redirect-uris.js';
import { redirectTargetOf } from '../clients/redirect-uris.js';
import { digestText, randomToken } from '../tokens/random.js';
import type { AuthorizationRequest } from './authorization-request.js';
import type { ProxyParts } from './parts.js';

// The browser of a user: the cookie that binds a login to it, and the decisions that it remembers.

const BROWSER = 'browser';
const CONSENTS = 'consents';
const BROWSER_S = 60 * 60;
const CONSENTS_S = 90 * 24 * 60 * 60;
const MAX_CONSENTS = 20;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

type BrowserParts = Pick<ProxyParts, 'cookies' | 'sealer'>;

/** The secret of the browser that sent a request; undefined if it has none. */
export function browserOf(request: Request, { cookies }: BrowserParts): string | undefined {
  const value = cookies.read(request, BROWSER);
  return value !== undefined && TOKEN.test(value) ? value : undefined;
}

/** The secret of the browser, or a new one, and the cookie that keeps it there. */
export function bindBrowser(
  request: Request,
  parts: BrowserParts,
): { readonly browser: string; readonly cookie: string } {
  const browser = browserOf(request, parts) ?? randomToken();
  return { browser, cookie: parts.cookies.print(BROWSER, browser, BROWSER_S) };
}

/** Whether the user of this browser has allowed this client before, with these scopes and this receiver. */
export async function isRemembered(
  request: Request,
  wanted: AuthorizationRequest,
  parts: BrowserParts,
): Promise<boolean> {
  if (!mayRemember(redirectTargetOf(wanted.redirectUri))) return false;
  return (await readConsents(request, parts)).includes(await consentOf(wanted));
}

/** The cookie that remembers one more decision; undefined for receivers that are asked for each time. */
export async function rememberCookie(
  request: Request,
  allowed: AuthorizationRequest,
  parts: BrowserParts,
): Promise<string | undefined> {
  if (!mayRemember(redirectTargetOf(allowed.redirectUri))) return undefined;
  const consent = await consentOf(allowed);
  const others = (await readConsents(request, parts)).filter((one) => one !== consent);
  const consents = [...others, consent].slice(-MAX_CONSENTS);
  const sealed = await parts.sealer.sealFor(CONSENTS_S * 1000, 'consents', { consents });
  return parts.cookies.print(CONSENTS, sealed, CONSENTS_S);
}

/** Any application on a computer can pretend to be another one, so that the user has to decide each time (RFC 8252, section 8.6). */
function mayRemember({ kind }: RedirectTarget): boolean {
  return kind === 'website';
}

async function readConsents(request: Request, { cookies, sealer }: BrowserParts): Promise<readonly string[]> {
  const cookie = cookies.read(request, CONSENTS);
  const opened = cookie === undefined ? undefined : await sealer.openFresh('consents', cookie);
  return (opened?.['consents'] as string[] | undefined) ?? [];
}

async function consentOf({ clientId, redirectUri, scopes }: AuthorizationRequest): Promise<string> {
  const { name } = redirectTargetOf(redirectUri);
  return (await digestText(JSON.stringify([clientId, name, [...scopes].sort()]))).slice(0, 22);
}
