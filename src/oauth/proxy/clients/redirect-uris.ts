import { checkRedirectUri } from '../../documents/cimd/redirect-uri.js';
import { isLoopbackUrl } from '../../fetch/check-url.js';

/** The schemes that browsers and systems interpret themselves. They can never lead to a client. */
const FORBIDDEN_SCHEMES = new Set([
  'about',
  'blob',
  'chrome',
  'content',
  'data',
  'file',
  'filesystem',
  'ftp',
  'http',
  'https',
  'intent',
  'javascript',
  'jar',
  'mailto',
  'resource',
  'sms',
  'tel',
  'vbscript',
  'view-source',
  'ws',
  'wss',
]);
const SCHEME = /^[a-z][a-z\d+.-]{1,63}$/;

/** Throws unless the operator may allow these schemes. */
export function checkSchemes(schemes: readonly string[]): void {
  for (const scheme of schemes)
    if (!SCHEME.test(scheme) || FORBIDDEN_SCHEMES.has(scheme))
      throw new TypeError(
        `oauthProxy: the scheme ${JSON.stringify(scheme)} cannot be in "redirectSchemes". Name the scheme of an application in lower case, such as "cursor".`,
      );
}

/** The reason why a client may not register a redirect URI, as the rest of a sentence; undefined if it may. */
export function redirectUriProblem(uri: string, schemes: readonly string[]): string | undefined {
  const problem = checkRedirectUri(uri, 'draft-02');
  if (problem === undefined || !URL.canParse(uri)) return problem;
  const scheme = new URL(uri).protocol.slice(0, -1);
  // The scheme of an application that the operator named; everything else about the URI must be right.
  if (!schemes.includes(scheme)) return problem;
  return checkRedirectUri(uri.replace(/^[^:]+/, 'com.example.app'), 'draft-02');
}

/**
 * Whether a client may be sent to a redirect URI: one of its own, character by character. Only the port of an address on the user's
 * own computer may differ, because the system chooses it (RFC 8252, section 7.3).
 */
export function isRegisteredRedirect(registered: readonly string[], requested: string): boolean {
  if (registered.includes(requested)) return true;
  const wanted = withoutLoopbackPort(requested);
  return wanted !== undefined && registered.some((uri) => withoutLoopbackPort(uri) === wanted);
}

/** A redirect URI on this computer without its port; undefined for others. */
function withoutLoopbackPort(uri: string): string | undefined {
  const [, host, rest] =
    /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?((?:[/?][\x21-\x7e]*)?)$/.exec(uri) ?? [];
  if (host === undefined || !URL.canParse(uri) || uri.includes('#')) return undefined;
  return `http://${host}${rest}`;
}

/** The receiver of a code, for people. */
export interface RedirectTarget {
  /** A website, an application on this computer that listens, or one that the system opens by its scheme. */
  readonly kind: 'website' | 'computer' | 'application';
  /** The host or the scheme. */
  readonly name: string;
}

/** Where a redirect URI leads. */
export function redirectTargetOf(uri: string): RedirectTarget {
  const url = new URL(uri);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { kind: 'application', name: url.protocol.slice(0, -1) };
  return isLoopbackUrl(url) ? { kind: 'computer', name: url.host } : { kind: 'website', name: url.host };
}
