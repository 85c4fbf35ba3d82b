import type { JSONWebKeySet, JWK } from 'jose';
import { isObject } from '../../../jsonrpc/message.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { discoverAuthorizationServer } from '../../documents/authorization-server.js';
import { checkUrl, isLoopbackUrl } from '../../fetch/check-url.js';
import { readPrivateHosts } from '../../fetch/private-hosts.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';

// Fetches the keys of an issuer.

/** The largest key set, in bytes and in keys. */
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 100;
const TIMEOUT_MS = 5000;

/** Where the keys of an issuer are. */
export interface KeySource {
  readonly issuer: string;
  /** The URL of the key set. Default: the `jwks_uri` of the issuer's metadata. */
  readonly jwksUri?: string | undefined;
  readonly fetch: SafeFetch;
  /** The hosts that may have private addresses. */
  readonly privateHosts: readonly string[];
}

/** The hosts that the operator chose: an issuer on a private network is not a peer's idea. Hosts that use http must be named. */
export function chosenHosts(
  urls: readonly (string | undefined)[],
  privateHosts: readonly string[] = [],
): readonly string[] {
  const chosen = urls.flatMap((text) => {
    const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
    return url?.protocol === 'https:' && !isLoopbackUrl(url) ? [url.hostname] : [];
  });
  return [...new Set([...privateHosts, ...chosen])];
}

/** Whether URLs of this computer may be used: only if the operator chose one. */
export function loopbackFor(url: string): 'allow' | 'refuse' {
  return URL.canParse(url) && isLoopbackUrl(new URL(url)) ? 'allow' : 'refuse';
}

/** Throws a TypeError if a URL among the options of `functionName` can never be requested. */
export function checkChosenUrl(
  functionName: string,
  url: string,
  { option, privateHosts }: { readonly option: string; readonly privateHosts: readonly string[] },
): void {
  if (typeof url !== 'string')
    throw new TypeError(`${functionName}: \`${option}\` must be a URL, as a string.`);
  try {
    checkUrl(url, { loopback: true, privateHosts: readPrivateHosts(privateHosts) });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new TypeError(`${functionName}: \`${option}\` cannot be used. ${error.message}`);
  }
}

/** Finds the URL of the key set. */
export async function findJwksUri(source: KeySource, signal: AbortSignal): Promise<string> {
  const { issuer, jwksUri, fetch, privateHosts } = source;
  if (jwksUri !== undefined) return jwksUri;
  const loopback = loopbackFor(issuer);
  const { jwks_uri } = await discoverAuthorizationServer(issuer, { fetch, loopback, privateHosts, signal });
  if (jwks_uri === undefined)
    throw new Error(
      `The metadata of ${displayUrl(issuer)} does not have a \`jwks_uri\`. If its keys are published elsewhere, set \`jwksUri\`.`,
    );
  return jwks_uri;
}

/** Fetches a key set. Throws an error whose message says what is wrong with it. */
export async function fetchKeys(
  url: string,
  { issuer, fetch, jwksUri }: KeySource,
  signal: AbortSignal,
): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    loopback: loopbackFor(jwksUri ?? issuer),
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  const where = displayUrl(url);
  if (response.status !== 200) throw new Error(`${where} replied with ${response.status}.`);
  return readKeys(await response.text(), where);
}

function readKeys(text: string, where: string): JSONWebKeySet {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${where} replied with text that is not JSON: ${JSON.stringify(shorten(text, 60))}.`);
  }
  const keys = isObject(json) ? json['keys'] : undefined;
  if (!Array.isArray(keys)) throw new Error(`${where} replied with JSON that is not a key set.`);
  if (keys.length > MAX_KEYS)
    throw new Error(`${where} has ${keys.length} keys; at most ${MAX_KEYS} are read.`);
  // Only public keys can verify. A symmetric key in a public document is not a secret.
  const usable = keys.filter(
    (key) => isObject(key) && typeof key['kty'] === 'string' && key['kty'] !== 'oct',
  );
  return { keys: usable as unknown as JWK[] };
}
