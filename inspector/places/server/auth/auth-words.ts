// The authorization in words: the state, the times, and what a server should have sent.

import type { AuthHop, AuthView, TokenView } from '../../../../src/inspector/contract/connection.js';

const DAY_MS = 86_400_000;

/** As in `until 12:05`, `until 18 Nov, 12:05` or `expired 12:05`. */
export function expiry(expiresAt: number, now: number): string {
  return `${expiresAt <= now ? 'expired' : 'until'} ${moment(expiresAt, now)}`;
}

/** As in `12:05`, or `18 Nov, 12:05` if it is not today. */
function moment(at: number, now: number): string {
  const date = new Date(at);
  const time = `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
  const isToday = date.toDateString() === new Date(now).toDateString();
  if (isToday) return time;
  const day = date.toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(Math.abs(at - now) > 300 * DAY_MS && { year: 'numeric' }),
  });
  return `${day}, ${time}`;
}

/** The state of the authorization as one sentence. */
export function authSentence({ state, hops, token }: AuthView, now: number): string {
  switch (state) {
    case 'none':
      return 'No token needed: the server answered without one.';
    case 'token':
      return 'A token that you gave is sent with each request.';
    case 'needed':
      return 'The server wants a token. Log in, or connect again with a token.';
    case 'logging-in':
      return 'Waiting for you: log in at the page of the authorization server.';
    case 'logged-in': {
      const until = token?.expiresAt === undefined ? '' : `, ${expiry(token.expiresAt, now)}`;
      return `Logged in${until}${token?.canRefresh === true ? '. The token is renewed by itself' : ''}.`;
    }
    case 'failed': {
      const failed = hops.findLast(({ outcome }) => outcome === 'failed');
      return failed === undefined ? 'The login failed.' : `The login failed at “${stepName(failed)}”.`;
    }
  }
}

/** The steps for people: what was done, and what could not be done. */
const NAMES: Readonly<Record<string, readonly [done: string, failed: string]>> = {
  challenge: ['asked without a token', 'ask without a token'],
  'resource metadata': ['found its metadata', 'find its metadata'],
  'authorization server metadata': ['found the login server', 'find the login server'],
  registration: ['registered', 'register'],
  authorization: ['you agreed', 'you agree'],
  token: ['got a token', 'get a token'],
  refresh: ['renewed the token', 'renew the token'],
  revocation: ['revoked the token', 'revoke the token'],
};

/** A step for people, as in `you agreed`. */
export function stepName({ name, outcome }: AuthHop): string {
  const [done, failed] = (Object.hasOwn(NAMES, name) ? NAMES[name] : undefined) ?? [name, name];
  return outcome === 'ok' ? done : failed;
}

const EXPECTATIONS: readonly (readonly [word: string, sentence: string])[] = [
  [
    'challenge',
    'The server should answer 401 with the header WWW-Authenticate: Bearer resource_metadata="…" (RFC 9728).',
  ],
  [
    'resource metadata',
    'The server should answer 200 with JSON that has "resource", equal to its own URL, and "authorization_servers" (RFC 9728).',
  ],
  [
    'metadata',
    'The authorization server should answer 200 with JSON that has "issuer", "authorization_endpoint", "token_endpoint" and "code_challenge_methods_supported" with "S256" (RFC 8414).',
  ],
  ['regist', 'The authorization server should answer 201 with JSON that has "client_id" (RFC 7591).'],
  [
    'authoriz',
    'The authorization server should send the browser back with "code", and with "state" unchanged.',
  ],
  [
    'refresh',
    'The authorization server should answer 200 with JSON that has "access_token" and "token_type".',
  ],
  ['token', 'The authorization server should answer 200 with JSON that has "access_token" and "token_type".'],
];

/** The answer that the specifications want in a step; undefined for a step that is not known. */
export function expectation({ name }: AuthHop): string | undefined {
  const lower = name.toLowerCase();
  return EXPECTATIONS.find(([word]) => lower.includes(word))?.[1];
}

const TIMES: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);
const MEANINGS: Readonly<Record<string, string>> = {
  iss: 'issuer',
  sub: 'subject',
  aud: 'audience',
  exp: 'expires',
  iat: 'issued',
  nbf: 'not before',
  jti: 'token id',
  azp: 'authorized party',
  client_id: 'client',
  scope: 'scopes',
  scp: 'scopes',
  auth_time: 'logged in',
};
const MAX_CLAIMS = 50;

export interface Claim {
  readonly name: string;
  readonly meaning?: string;
  readonly value: string;
  /** The value as a time of day, if it is one. */
  readonly time?: string;
}

/** The claims of a token as rows. They are not checked: only the server can do that. */
export function claimsOf(claims: NonNullable<TokenView['claims']>, now: number): readonly Claim[] {
  return Object.entries(claims)
    .slice(0, MAX_CLAIMS)
    .map(([name, value]) => ({
      name,
      ...(Object.hasOwn(MEANINGS, name) && { meaning: MEANINGS[name] ?? name }),
      value: typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
      ...(TIMES.has(name) && typeof value === 'number' && { time: moment(value * 1000, now) }),
    }));
}

/** The address of a login page, if it may be opened: an http: or https: URL. */
export function loginAddress(text: string | undefined): URL | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}
