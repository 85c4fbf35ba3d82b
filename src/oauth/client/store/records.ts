import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { TokenStore } from './token-store.js';

// The values in a token store: tokens by server, and registrations by issuer.

/** The tokens of one server. */
export interface StoredTokens {
  /** The authorization server that issued them. The refresh token is sent to no other. */
  readonly issuer: string;
  /** The resource that the tokens are for, as its metadata spells it; undefined for servers without metadata. */
  readonly resource: string | undefined;
  readonly clientId: string;
  readonly accessToken: string;
  readonly tokenType: 'bearer' | 'dpop';
  /** The end of the access token, in milliseconds since 1970. */
  readonly expiresAt: number | undefined;
  readonly lifetimeMs: number | undefined;
  readonly refreshToken: string | undefined;
  /** The scopes that were granted. */
  readonly scopes: readonly string[];
  /** Every scope that was ever asked for. */
  readonly asked: readonly string[];
  /** The key of a sender-constrained token. */
  readonly dpopKey: { readonly privateKey: JsonObject; readonly publicKey: JsonObject } | undefined;
}

/** A client's identity at one authorization server. */
export interface StoredClient {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** The end of the secret, in milliseconds since 1970; undefined if it does not end. */
  readonly secretExpiresAt: number | undefined;
  /** The way to authenticate at the token endpoint. */
  readonly method: string;
  readonly redirectUris: readonly string[];
  /** The scopes that the client is registered for; undefined if the registration names none. */
  readonly scopes: readonly string[] | undefined;
}

/** A value of the store, with the text that it was read from. */
export interface Stored<T> {
  readonly value: T;
  readonly text: string;
}

/** The key of the tokens of one server. */
export function tokensKey(server: string, account: string): string {
  return `tokens ${account} ${server}`;
}

/** The key of the registration at one issuer. */
export function clientKey(issuer: string, account: string): string {
  return `client ${account} ${issuer}`;
}

/** Reads tokens; undefined if there are none, or if another version wrote something else. */
export async function readTokens(store: TokenStore, key: string): Promise<Stored<StoredTokens> | undefined> {
  const text = await store.get(key);
  const value = parse(text);
  const isUsable =
    value !== undefined &&
    ['issuer', 'clientId', 'accessToken', 'tokenType'].every((name) => typeof value[name] === 'string') &&
    Array.isArray(value['scopes']) &&
    Array.isArray(value['asked']);
  return isUsable ? { value: value as unknown as StoredTokens, text: text as string } : undefined;
}

/** Reads a registration; undefined if there is none that can be used. */
export async function readClient(store: TokenStore, key: string): Promise<StoredClient | undefined> {
  const value = parse(await store.get(key));
  if (typeof value?.['clientId'] !== 'string' || typeof value['method'] !== 'string') return undefined;
  return Array.isArray(value['redirectUris']) ? (value as unknown as StoredClient) : undefined;
}

function parse(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
