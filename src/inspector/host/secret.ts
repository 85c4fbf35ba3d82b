// The token of an inspector, which its user gets in an address, and its browser keeps in a cookie.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const BYTES = 32;
const MAX_COOKIES = 16_384;

/** A token with 256 bits that nobody can guess. */
export function newToken(): string {
  return randomBytes(BYTES).toString('base64url');
}

/** Compares without telling by its time how much of the token was right. */
export function isToken(given: string | null | undefined, token: string): boolean {
  if (given === null || given === undefined) return false;
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The name of the cookie. Browsers send the cookies of one port to all ports of the computer, so each has a name of its own. */
function cookieName(port: number): string {
  return `fullmcp-inspector-${port}`;
}

export interface CookiePlace {
  readonly port: number;
  readonly path: string;
  readonly isEncrypted: boolean;
}

/** The header that keeps the token in the browser until it is closed. */
export function tokenCookie(token: string, { port, path, isEncrypted }: CookiePlace): string {
  return `${cookieName(port)}=${token}; Path=${path}; HttpOnly; SameSite=Strict${isEncrypted ? '; Secure' : ''}`;
}

/** Whether the request has the cookie with the token. */
export function hasTokenCookie({ headers }: IncomingMessage, token: string, port: number): boolean {
  const name = `${cookieName(port)}=`;
  const cookies = (headers.cookie ?? '').slice(0, MAX_COOKIES).split(';');
  // Another page of this computer may have set one of the same name for another path.
  return cookies.some((cookie) => {
    const text = cookie.trim();
    return text.startsWith(name) && isToken(text.slice(name.length), token);
  });
}
