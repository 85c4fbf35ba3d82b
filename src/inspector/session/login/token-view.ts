// A token as the page shows it: masked, its claims decoded here, and nothing about it checked.

import { Buffer } from 'node:buffer';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { tryParseObject } from '../../../jsonrpc/try-parse.js';
import type { StoredTokens } from '../../../oauth/client/store/records.js';
import type { TokenView } from '../../contract/connection.js';
import { maskValue } from '../../wiretap/mask.js';

const MAX_TOKEN = 20_000;

/** The tokens of a login. */
export function viewOfTokens({
  accessToken,
  expiresAt,
  scopes,
  issuer,
  refreshToken,
}: StoredTokens): TokenView {
  return {
    ...viewOfToken(accessToken),
    ...(expiresAt !== undefined && { expiresAt }),
    scopes,
    issuer,
    canRefresh: refreshToken !== undefined,
  };
}

/** A token that was given. */
export function viewOfToken(token: string): TokenView {
  const [header, claims, signature] = token.length > MAX_TOKEN ? [] : token.split('.').map(decoded);
  const isJwt = header !== undefined && claims !== undefined && signature !== null;
  const expires = claims?.['exp'];
  const { iss: issuer } = claims ?? {};
  return {
    masked: maskValue(token),
    ...(isJwt && { header, claims }),
    ...(isJwt && typeof expires === 'number' && { expiresAt: expires * 1000 }),
    ...(isJwt && typeof issuer === 'string' && { issuer }),
    canRefresh: false,
  };
}

function decoded(part: string): JsonObject | undefined {
  return tryParseObject(Buffer.from(part, 'base64url').toString('utf8'));
}
