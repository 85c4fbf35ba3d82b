import { SignJWT } from 'jose';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import type { VerifierRuntime } from '../keys/runtime.js';
import { TokenCache } from './token-cache.js';
import { audiencesOf, checkTokenOptions, type TokenOptions, tokenTable } from './token-options.js';
import { createTokenProvider, type TokenProvider } from './token-provider.js';
import { type JwtRules, verifyJwt } from './verify-jwt.js';

// Tokens that are signed with a secret which the issuer and the server share (HS256): for tests and small setups.

/** The options of `sharedSecretJwt`. */
export interface SharedSecretJwtOptions extends TokenOptions {
  /** The secret: at least 32 bytes. Of several, each one is accepted, so that a secret can be replaced. */
  readonly secret: string | readonly string[];
  /** The `iss` of the tokens. */
  readonly issuer: string;
}

/** The options of `mintToken`. */
export interface MintTokenOptions {
  /** The secret that signs: at least 32 bytes. Of several, the first one signs. */
  readonly secret: string | readonly string[];
  /** The `iss` of the token. */
  readonly issuer: string;
  /** The `aud` of the token, usually the URL of the server that it is for. */
  readonly audience: string | readonly string[];
  /** The time until the token expires: seconds, or a string such as `15m`, `2h` or `7d`. Default: one hour. */
  readonly expiresIn?: number | string | undefined;
}

const optionTable = {
  ...tokenTable,
  secret: 'any',
  issuer: 'any',
} as const satisfies OptionTable<SharedSecretJwtOptions>;
const mintTable = {
  secret: 'any',
  issuer: 'any',
  audience: 'any',
  expiresIn: { is: 'any', default: 3600 },
} as const satisfies OptionTable<MintTokenOptions>;
const ALGORITHM = 'HS256';
/** RFC 7518, section 3.2: a key for HS256 has at least the size of its output. */
const MIN_SECRET_BYTES = 32;
const MAX_SECRETS = 10;

/** Makes `sharedSecretJwt` for a runtime. */
export function makeSharedSecretJwt(
  runtime: VerifierRuntime,
): (options: SharedSecretJwtOptions) => TokenProvider {
  return function sharedSecretJwt(given) {
    const options = readOptions('sharedSecretJwt', given, optionTable);
    checkTokenOptions('sharedSecretJwt', options);
    const { issuer, clockToleranceSeconds, cacheSeconds } = options;
    const secrets = readSecrets('sharedSecretJwt', options.secret);
    checkIssuer('sharedSecretJwt', issuer);
    const issuers = new Map([[issuer, { issuer, keys: secrets }]]);
    const rules: JwtRules = {
      algorithms: [ALGORITHM],
      audiences: audiencesOf(options),
      clientIds: options.clientIds,
      names: options.claims,
      toleranceSeconds: clockToleranceSeconds,
      now: Date.now,
    };
    return createTokenProvider({
      name: 'sharedSecretJwt',
      options,
      runtime,
      cache: new TokenCache({ keepMs: cacheSeconds * 1000 }),
      verify: (token) => verifyJwt(token, issuers, rules),
    });
  };
}

/**
 * Makes a token for `sharedSecretJwt`.
 *
 * @example
 * const token = await mintToken({ sub: 'ann', scope: 'files:read' }, { secret, issuer: 'me', audience: url, expiresIn: '15m' });
 */
export async function mintToken(claims: Readonly<JsonObject>, options: MintTokenOptions): Promise<string> {
  const { secret: secrets, issuer, audience, expiresIn } = readOptions('mintToken', options, mintTable);
  const [secret] = readSecrets('mintToken', secrets);
  checkIssuer('mintToken', issuer);
  if (typeof claims['sub'] !== 'string' || claims['sub'] === '')
    throw new TypeError('mintToken: the claims must have a `sub`, the name of the caller.');
  const audiences = typeof audience === 'string' ? [audience] : audience;
  if (!Array.isArray(audiences) || audiences.length === 0 || audiences.includes(''))
    throw new TypeError(
      'mintToken: `audience` is required: the `audience` of the server that the token is for.',
    );
  const now = Math.floor(Date.now() / 1000);
  const jwt = new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt' })
    .setIssuer(issuer)
    .setAudience(typeof audience === 'string' ? audience : [...audience])
    .setIssuedAt(now);
  setExpiry(jwt, expiresIn, now);
  return await jwt.sign(secret as Uint8Array);
}

function setExpiry(jwt: SignJWT, expiresIn: number | string, now: number): void {
  try {
    if (typeof expiresIn === 'string') return void jwt.setExpirationTime(expiresIn);
    if (Number.isFinite(expiresIn) && expiresIn > 0)
      return void jwt.setExpirationTime(now + Math.ceil(expiresIn));
  } catch {
    // The error of jose does not say which string was wrong.
  }
  throw new TypeError(
    'mintToken: `expiresIn` must be a number of seconds above 0, or a string such as "15m".',
  );
}

function readSecrets(functionName: string, secret: string | readonly string[]): readonly Uint8Array[] {
  const list = typeof secret === 'string' ? [secret] : secret;
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_SECRETS)
    throw new TypeError(
      `${functionName}: \`secret\` must be a string, or an array of 1 to ${MAX_SECRETS} strings.`,
    );
  return list.map((one: unknown) => {
    const bytes = typeof one === 'string' ? new TextEncoder().encode(one) : new Uint8Array();
    if (bytes.length < MIN_SECRET_BYTES)
      throw new TypeError(
        `${functionName}: a \`secret\` must have at least ${MIN_SECRET_BYTES} bytes, because a shorter one can be guessed from a token. \`openssl rand -base64 32\` makes one.`,
      );
    return bytes;
  });
}

function checkIssuer(functionName: string, issuer: unknown): void {
  if (typeof issuer !== 'string' || issuer === '')
    throw new TypeError(
      `${functionName}: \`issuer\` is required: the text that tokens have as their \`iss\`.`,
    );
}
