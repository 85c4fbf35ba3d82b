import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import { type ClaimNames, firstString, own, readCaller, wrongAudience } from './claims.js';
import type { RejectedToken, TokenVerdict } from './token-cache.js';

// The check of one signed token.

/** Finds the key that signed a token. */
type FindKey = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** An issuer whose tokens are accepted. */
export interface AcceptedIssuer {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  /** Finds the key of a token, or is the keys of which each one may have signed it. */
  readonly keys: FindKey | readonly Uint8Array[];
  /** Fetches the keys again, if that is allowed now. Resolves with whether they have changed. */
  readonly refresh?: (() => Promise<boolean>) | undefined;
  /** A sentence that says why the claims are not those of an access token for this server; undefined if they are. */
  readonly refuse?: ((claims: JsonObject) => string | undefined) | undefined;
}

/** The rules for the tokens of all issuers. */
export interface JwtRules {
  readonly algorithms: readonly string[];
  readonly audiences: readonly string[] | undefined;
  readonly clientIds?: readonly string[] | undefined;
  readonly names?: ClaimNames | undefined;
  readonly toleranceSeconds: number;
  /** The `typ` of the header that tokens must have. Default: none, `JWT` or `at+jwt`. */
  readonly typ?: string | undefined;
  readonly now: () => number;
}

/** Checks a token. Throws an `McpError` only if that is impossible now. */
export async function verifyJwt(
  token: string,
  issuers: ReadonlyMap<string, AcceptedIssuer>,
  rules: JwtRules,
): Promise<TokenVerdict> {
  const parsed = parse(token);
  if (parsed === undefined) return foreign('The token is not a signed JWT.');
  const { iss } = parsed.payload;
  const issuer = typeof iss === 'string' ? issuers.get(iss) : undefined;
  if (issuer === undefined)
    return foreign('The token is from another issuer (iss) than this server accepts.');
  const type = wrongType(parsed.header.typ, rules.typ);
  if (type !== undefined) return final(type);
  let claims: JsonObject;
  try {
    claims = (await verifyAfresh(token, { issuer, rules, kid: parsed.header.kid })) as JsonObject;
  } catch (error) {
    return reject(error);
  }
  return judge(claims, issuer, rules);
}

function parse(token: string): { header: JWSHeaderParameters; payload: JWTPayload } | undefined {
  try {
    return { header: decodeProtectedHeader(token), payload: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** Other kinds of JWT, such as logout tokens and proofs, have the same issuer and keys, but are not for servers. */
function wrongType(typ: unknown, wanted: string | undefined): string | undefined {
  const name = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  const isRight =
    wanted === undefined
      ? name === undefined || name === 'jwt' || name === 'at+jwt'
      : name === wanted.toLowerCase().replace(/^application\//, '');
  return isRight ? undefined : 'The type of the token (typ in its header) is not that of an access token.';
}

interface Verification {
  readonly issuer: AcceptedIssuer;
  readonly rules: JwtRules;
  readonly kid: unknown;
}

/** A token that does not name its key may be of a new one, which is only seen by its signature. */
async function verifyAfresh(token: string, { issuer, rules, kid }: Verification): Promise<JWTPayload> {
  try {
    return await verifySignature(token, issuer, rules);
  } catch (error) {
    const mayBeNew = kid === undefined && error instanceof errors.JWSSignatureVerificationFailed;
    if (!mayBeNew || !(await issuer.refresh?.())) throw error;
    return await verifySignature(token, issuer, rules);
  }
}

const MAX_CANDIDATES = 10;

async function verifySignature(token: string, issuer: AcceptedIssuer, rules: JwtRules): Promise<JWTPayload> {
  const options: JWTVerifyOptions = {
    algorithms: [...rules.algorithms],
    issuer: issuer.issuer,
    requiredClaims: ['exp'],
    clockTolerance: rules.toleranceSeconds,
    currentDate: new Date(rules.now()),
  };
  const { keys } = issuer;
  if (typeof keys !== 'function') return await verifyWithAny(token, keys, options);
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    // The token does not name its key.
    return await verifyWithAny(token, error, options);
  }
}

async function verifyWithAny(
  token: string,
  keys: Iterable<Uint8Array> | AsyncIterable<CryptoKey>,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let tried = 0;
  for await (const key of keys) {
    if (++tried > MAX_CANDIDATES) break;
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

function judge(claims: JsonObject, issuer: AcceptedIssuer, rules: JwtRules): TokenVerdict {
  const { audiences, clientIds, names, toleranceSeconds } = rules;
  const reason =
    wrongAudience(claims, audiences) ??
    wrongUse(claims) ??
    issuer.refuse?.(claims) ??
    wrongClient(claims, clientIds, names);
  if (reason !== undefined) return final(reason);
  const expiresAt = ((claims['exp'] as number) + toleranceSeconds) * 1000;
  const caller = readCaller(claims, { names, issuer: issuer.issuer, expiresAt });
  if ('reason' in caller) return final(caller.reason);
  const binding = readBinding(claims);
  return 'reason' in binding ? final(binding.reason) : { auth: caller.auth, jkt: binding.jkt };
}

/** ID tokens tell a client who its user is. A client could send one here that it got for another purpose. */
function wrongUse(claims: JsonObject): string | undefined {
  const marks = ['nonce', 'at_hash', 'c_hash', 's_hash'].filter((name) => own(claims, name) !== undefined);
  const isIdToken = marks.length > 0 || own(claims, 'token_use') === 'id';
  if (isIdToken) return 'The token is an ID token. Send the access token.';
  return own(claims, 'events') === undefined
    ? undefined
    : 'The token is a security event, not an access token.';
}

/** A sentence about the client of a token; undefined if it is accepted. */
export function wrongClient(
  claims: JsonObject,
  clientIds: readonly string[] | undefined,
  { clientId = ['client_id', 'azp'] }: ClaimNames = {},
): string | undefined {
  if (clientIds === undefined) return undefined;
  const names = typeof clientId === 'string' ? [clientId] : clientId;
  const client = firstString(claims, names);
  if (client === undefined) return `The token does not name its client (${names.join(', ')}).`;
  return clientIds.includes(client)
    ? undefined
    : `The token is of a client that this server does not accept (${names.join(', ')}).`;
}

/** The key that a token is bound to. A binding of another kind cannot be checked, so the token is rejected. */
export function readBinding(
  claims: JsonObject,
): { readonly jkt: string | undefined } | { readonly reason: string } {
  const cnf = own(claims, 'cnf');
  if (cnf === undefined || cnf === null) return { jkt: undefined };
  const jkt = isObject(cnf) ? own(cnf, 'jkt') : undefined;
  const isOnly = isObject(cnf) && Object.keys(cnf).length === 1;
  return typeof jkt === 'string' && jkt !== '' && isOnly
    ? { jkt }
    : { reason: 'The token is bound to a key in a way that this server cannot check (cnf).' };
}

export function final(reason: string): RejectedToken {
  return { reason, isFinal: true };
}

/** A token that may be for another provider. */
export function foreign(reason: string): RejectedToken {
  return { reason, isFinal: true, isForeign: true };
}

function reject(error: unknown): RejectedToken {
  if (McpError.is(error)) throw error;
  if (error instanceof errors.JWTExpired) return final('The token has expired (exp).');
  if (error instanceof errors.JWTClaimValidationFailed) {
    const claim = shorten(error.claim, 40);
    if (error.reason === 'missing') return final(`The token does not have the claim ${claim}.`);
    return claim === 'nbf'
      ? { reason: 'The token is not valid yet (nbf).', isFinal: false }
      : final(`The claim ${claim} of the token is not valid.`);
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return final('The algorithm of the token (alg) is not accepted.');
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return final('The signature of the token is not valid.');
  if (error instanceof errors.JWKSNoMatchingKey)
    return {
      reason: 'The token was signed with a key (kid, alg) that its issuer does not publish.',
      isFinal: false,
    };
  if (error instanceof errors.JOSENotSupported)
    return final('The token needs something that is not supported (crit).');
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid)
    return final('The token is not a valid JWT.');
  // For example, an RSA key that is too short.
  return { reason: 'The key that signed the token cannot be used.', isFinal: false };
}
