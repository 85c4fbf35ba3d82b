import type { JsonObject } from '../../../jsonrpc/message.js';
import { tryParseObject } from '../../../jsonrpc/try-parse.js';
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
  /** Whether the user named it. Then nobody knows for which redirect URIs it is registered. */
  readonly isNamedByUser?: boolean | undefined;
}

/** A value of the store, and the string that it was read from. Without a string there is nothing; without a value, nothing usable. */
export interface StoredRecord<T> {
  readonly value: T | undefined;
  readonly text: string | undefined;
}

/** The key of the tokens of one server. */
export function tokensKey(server: string, account: string): string {
  return `tokens ${account} ${server}`;
}

/** The key of the registration at one issuer. */
export function clientKey(issuer: string, account: string): string {
  return `client ${account} ${issuer}`;
}

/** Reads tokens. The value is undefined if there are none, or if another version wrote something else. */
export async function readTokens(store: TokenStore, key: string): Promise<StoredRecord<StoredTokens>> {
  const text = await store.get(key);
  const value = parse(text);
  const has = (type: string, names: readonly string[], isOptional = false): boolean =>
    names.every((name) => typeof value?.[name] === type || (isOptional && value?.[name] === undefined));
  const isUsable =
    has('string', ['issuer', 'clientId', 'accessToken', 'tokenType']) &&
    has('string', ['resource', 'refreshToken'], true) &&
    has('number', ['expiresAt', 'lifetimeMs'], true) &&
    Array.isArray(value?.['scopes']) &&
    Array.isArray(value['asked']);
  return { value: isUsable ? (value as unknown as StoredTokens) : undefined, text };
}

const MARGIN_MS = 60_000;

/** Whether an access token should be renewed before the next request: a minute before its end, or earlier if it lives briefly. */
export function isDue({ expiresAt, lifetimeMs = MARGIN_MS * 4 }: StoredTokens): boolean {
  return expiresAt !== undefined && Date.now() > expiresAt - Math.min(MARGIN_MS, lifetimeMs / 4);
}

/** Whether an access token has ended. */
export function isExpired({ expiresAt }: StoredTokens): boolean {
  return expiresAt !== undefined && Date.now() >= expiresAt;
}

/** Whether the scopes were all asked for. */
export function isCovered(scopes: readonly string[], { asked }: StoredTokens): boolean {
  return scopes.every((scope) => asked.includes(scope));
}

/** Reads a registration; undefined if there is none that can be used. */
export async function readClient(store: TokenStore, key: string): Promise<StoredClient | undefined> {
  const value = parse(await store.get(key));
  if (typeof value?.['clientId'] !== 'string' || typeof value['method'] !== 'string') return undefined;
  return Array.isArray(value['redirectUris']) ? (value as unknown as StoredClient) : undefined;
}

function parse(text: string | undefined): JsonObject | undefined {
  return text === undefined ? undefined : tryParseObject(text);
}
