import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import type { AuthRequest } from '../../../state/auth-provider.js';
import { invalidProof } from './proof-errors.js';
import type { ProofKeys } from './proof-keys.js';

// One proof of a key (RFC 9449, section 4.3). All checks but the two that need memory: the nonce and the repetition.

const MAX_PROOF_LENGTH = 8192;
const MAX_JTI_LENGTH = 256;
/** The difference between the clocks of the client and the server, and the age of a proof (SEP-1932). */
export const PROOF_WINDOW_SECONDS = 300;

/** The algorithms of proofs that are accepted. */
export const proofAlgorithms: readonly string[] = ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256', 'RS256'];

/** The request and the token that a proof must be about. */
export interface ProofSubject {
  readonly request: AuthRequest;
  /** SHA-256 of the token, as base64url. */
  readonly tokenDigest: string;
  /** The thumbprint of the key that the token is bound to. */
  readonly jkt: string;
}

export interface ProofChecks {
  readonly keys: ProofKeys;
  readonly algorithms: readonly string[];
  readonly now: () => number;
}

/** The parts of a valid proof that must be remembered or compared. */
export interface CheckedProof {
  readonly jti: string;
  /** When the client made the proof, in seconds since 1970. */
  readonly iat: number;
  readonly nonce: unknown;
}

/** Checks the proof of a request. Throws a 401 that says what is wrong with it. */
export async function checkProof(
  { request, tokenDigest, jkt }: ProofSubject,
  { keys, algorithms, now }: ProofChecks,
): Promise<CheckedProof> {
  const refuse = (message: string): Error => invalidProof(message, algorithms);
  const proof = request.header('dpop');
  if (proof === undefined || proof === '')
    throw refuse('The header DPoP with a proof of the key is missing.');
  if (proof.length > MAX_PROOF_LENGTH) throw refuse('The proof is too long.');
  // Several headers arrive as one with commas, which is not a JWT.
  const header = headerOf(proof);
  if (header === undefined) throw refuse('The header DPoP must have exactly one proof, a signed JWT.');
  if (typeof header.typ !== 'string' || header.typ.toLowerCase() !== 'dpop+jwt')
    throw refuse('The proof does not have the type dpop+jwt.');
  const { alg } = header;
  if (typeof alg !== 'string' || !algorithms.includes(alg))
    throw refuse(`The algorithm of the proof is not accepted. Accepted: ${algorithms.join(' ')}.`);
  const key = await keys.read(header.jwk, alg);
  if (key === undefined) throw refuse(`The jwk of the proof is not a public key for ${alg}.`);
  if (key.thumbprint !== jkt) throw refuse('The token is bound to another key than that of the proof.');
  const payload = await verify(proof, { key: key.key, algorithms, now }, refuse);
  checkPayload(payload, { request, tokenDigest, jkt }, { refuse, now });
  return { jti: payload.jti as string, iat: payload.iat as number, nonce: payload['nonce'] };
}

function headerOf(proof: string): ReturnType<typeof decodeProtectedHeader> | undefined {
  try {
    return decodeProtectedHeader(proof);
  } catch {
    return undefined;
  }
}

type Refuse = (message: string) => Error;

async function verify(
  proof: string,
  { key, algorithms, now }: Omit<ProofChecks, 'keys'> & { readonly key: CryptoKey },
  refuse: Refuse,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(proof, key, {
      algorithms: [...algorithms],
      currentDate: new Date(now()),
      clockTolerance: PROOF_WINDOW_SECONDS,
    });
    return payload;
  } catch (error) {
    throw refuse(
      error instanceof errors.JWSSignatureVerificationFailed
        ? 'The signature of the proof is not valid.'
        : 'The proof is not a valid JWT.',
    );
  }
}

function checkPayload(
  payload: JWTPayload,
  { request, tokenDigest }: ProofSubject,
  { refuse, now }: { readonly refuse: Refuse; readonly now: () => number },
): void {
  const { jti, iat, htm, htu, ath } = payload;
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI_LENGTH)
    throw refuse(`The proof must have a jti of 1 to ${MAX_JTI_LENGTH} characters.`);
  if (htm !== request.method) throw refuse(`The proof is for another method (htm) than ${request.method}.`);
  if (typeof htu !== 'string' || target(htu) === undefined || target(htu) !== target(request.url))
    throw refuse(`The proof is for another URL (htu) than ${request.url}.`);
  if (ath !== tokenDigest) throw refuse('The proof is for another token (ath).');
  if (typeof iat !== 'number' || Math.abs(now() / 1000 - iat) > PROOF_WINDOW_SECONDS)
    throw refuse(
      `The proof was made more than ${PROOF_WINDOW_SECONDS / 60} minutes ago, or the clock of the client is wrong (iat).`,
    );
}

/** A URL without query and fragment, in the form in which equal URLs are equal strings. A web socket is opened with HTTP. */
function target(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text.replace(/^ws(s?):/i, 'http$1:'));
  return `${url.origin}${url.pathname}`;
}
