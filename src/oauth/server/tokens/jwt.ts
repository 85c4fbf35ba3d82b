import type { JsonObject } from '../../../jsonrpc/message.js';
import { type FilledOptions, type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import type { AuthContext } from '../../../state/auth-provider.js';
import { IssuerKeys, type KeyTimes } from '../keys/issuer-keys.js';
import { checkChosenUrl, chosenHosts } from '../keys/load-keys.js';
import type { VerifierRuntime } from '../keys/runtime.js';
import { type JwkSet, type KeyFinder, staticKeys } from '../keys/static-keys.js';
import { TokenCache } from './token-cache.js';
import { audiencesOf, checkTokenOptions, type TokenOptions, tokenTable } from './token-options.js';
import { createTokenProvider, type TokenProvider } from './token-provider.js';
import { type AcceptedIssuer, type JwtRules, verifyJwt } from './verify-jwt.js';

/** An issuer of tokens, and where its keys are. */
type TokenIssuer = {
  /** The `iss` of its tokens, compared as text: a slash more is another issuer. */
  readonly issuer: string;
  /** The URL of its public keys. Default: the `jwks_uri` of its metadata (RFC 8414, otherwise OpenID Connect Discovery). */
  readonly jwksUri?: string | undefined;
  /** Its public keys themselves. Nothing is fetched then, and the issuer can be any text. Default: they are fetched. */
  readonly jwks?: JwkSet | undefined;
  /** Whether the protected resource metadata names this issuer, so that clients log in there. Default: true; false with `jwks`. */
  readonly isAdvertised?: boolean | undefined;
};

/** The options of `jwt`. */
export interface JwtOptions extends TokenOptions {
  /** The issuer of the tokens, or several. */
  readonly issuer: string | TokenIssuer | readonly (string | TokenIssuer)[];
  /** The URL of the public keys, if there is one issuer. Default: the `jwks_uri` of its metadata. */
  readonly jwksUri?: string | undefined;
  /**
   * The public keys themselves, if there is one issuer: `{ keys: [{ kty, … }] }`. Nothing is fetched then, and clients are not told to log in
   * anywhere. Default: they are fetched.
   */
  readonly jwks?: JwkSet | undefined;
  /** The accepted algorithms. Default: RS256, PS256, ES256, ES384, EdDSA. */
  readonly algorithms?: readonly string[] | undefined;
  /** The type that the header of tokens must have, such as `at+jwt`. Default: none, `JWT` or `at+jwt`. */
  readonly typ?: string | undefined;
  /** The hosts on private networks that may be asked for metadata and keys, besides those of `issuer` and `jwksUri`. Default: none. */
  readonly privateHosts?: readonly string[] | undefined;
}

/** The parts that presets and tests add to `jwt`. */
export interface JwtParts {
  /** The name of the function in errors. */
  readonly name?: string;
  readonly refuse?: (claims: JsonObject) => string | undefined;
  readonly now?: () => number;
  readonly times?: KeyTimes;
}

const optionTable = {
  ...tokenTable,
  issuer: 'any',
  jwksUri: 'string',
  jwks: 'object',
  algorithms: 'strings',
  typ: 'string',
  privateHosts: 'strings',
} as const satisfies OptionTable<JwtOptions>;

const defaultAlgorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];
/** Algorithms with public keys. A symmetric one beside them would let anybody sign with the public key. */
const asymmetric = /^(?:RS|PS|ES)(?:256|384|512)$|^EdDSA$|^Ed25519$/;

/** Makes `jwt` for a runtime. */
export function makeJwt(runtime: VerifierRuntime): (options: JwtOptions) => TokenProvider {
  return function jwt(options) {
    return createJwt(runtime, options);
  };
}

/** Makes a provider for the signed tokens of an issuer. */
export function createJwt(runtime: VerifierRuntime, given: JwtOptions, parts: JwtParts = {}): TokenProvider {
  const { name = 'jwt', now = Date.now } = parts;
  const options = readOptions(name, given, optionTable);
  const issuers = readIssuers(name, options);
  const { algorithms = defaultAlgorithms, clockToleranceSeconds, cacheSeconds } = options;
  const urls = issuers.flatMap(({ issuer, jwksUri }) => [issuer, jwksUri]);
  const privateHosts = chosenHosts(urls, options.privateHosts);
  for (const { issuer, jwksUri, jwks } of issuers) {
    // An issuer whose keys are elsewhere is only compared.
    if (jwks !== undefined) continue;
    if (jwksUri === undefined) checkChosenUrl(name, issuer, { option: 'issuer', privateHosts });
    else checkChosenUrl(name, jwksUri, { option: 'jwksUri', privateHosts });
  }
  const fetch = runtime.safeFetch({ privateHosts });
  const cache = new TokenCache({ keepMs: cacheSeconds * 1000, now });
  let log: AuthContext['log'] | undefined;
  const fetched: IssuerKeys[] = [];
  function fetchedKeys(source: TokenIssuer): IssuerKeys {
    const keys = new IssuerKeys({
      ...source,
      fetch,
      privateHosts,
      sharesWork: runtime.sharesWork,
      onRemoved: () => cache.clear(),
      onTrouble: (message, error) => log?.('warning', message, error),
      now,
      ...(parts.times !== undefined && { times: parts.times }),
    });
    fetched.push(keys);
    return keys;
  }
  const accepted = new Map<string, AcceptedIssuer>(
    issuers.map((source) => {
      const { issuer, jwks } = source;
      const keySet: KeyFinder =
        jwks === undefined ? fetchedKeys(source) : staticKeys(jwks, { name, algorithms });
      return [
        issuer,
        {
          issuer,
          refuse: parts.refuse,
          keys: (header, token) => keySet.find(header, token),
          refresh: () => keySet.refresh(),
        },
      ];
    }),
  );
  const rules: JwtRules = {
    algorithms,
    audiences: audiencesOf(options),
    clientIds: options.clientIds,
    names: options.claims,
    toleranceSeconds: clockToleranceSeconds,
    typ: options.typ,
    now,
  };
  return createTokenProvider({
    name,
    options,
    runtime,
    cache,
    now,
    verify: (token) => verifyJwt(token, accepted, rules),
    authorizationServers: issuers
      .filter(({ jwks, isAdvertised = jwks === undefined }) => isAdvertised)
      .map(({ issuer }) => issuer),
    start(context) {
      log = context.log;
      for (const one of fetched) one.open();
      // In the background: a server starts although its issuer does not answer. Workers allow no requests at this time.
      if (runtime.sharesWork) for (const keySet of fetched) void keySet.warmUp();
    },
    close() {
      for (const keySet of fetched) keySet.close();
    },
  });
}

function readIssuers(
  name: string,
  options: FilledOptions<JwtOptions, typeof optionTable>,
): readonly TokenIssuer[] {
  checkTokenOptions(name, options);
  const { issuer, jwksUri, jwks, algorithms } = options;
  const list = (Array.isArray(issuer) ? issuer : [issuer]) as readonly (string | TokenIssuer)[];
  const issuers = list.map((one) => (typeof one === 'string' ? { issuer: one } : one));
  const isValid = issuers.every((one) => typeof one?.issuer === 'string' && one.issuer !== '');
  if (!isValid || issuers.length === 0)
    throw new TypeError(
      `${name}: \`issuer\` is required: the URL that tokens have as their \`iss\`, or several.`,
    );
  if (new Set(issuers.map((one) => one.issuer)).size < issuers.length)
    throw new TypeError(`${name}: \`issuer\` names one issuer twice.`);
  if ((jwksUri !== undefined || jwks !== undefined) && issuers.length > 1)
    throw new TypeError(
      `${name}: with several issuers, each one has its own \`jwksUri\` or \`jwks\`: issuer: [{ issuer, jwksUri }].`,
    );
  const refused = algorithms?.find((one) => !asymmetric.test(one));
  if (refused !== undefined || algorithms?.length === 0)
    throw new TypeError(
      `${name}: \`algorithms\` may have RS, PS and ES algorithms, EdDSA and Ed25519. For tokens with a shared secret (HS256) use sharedSecretJwt.`,
    );
  const complete = issuers.map((one) => ({
    ...one,
    jwksUri: one.jwksUri ?? jwksUri,
    jwks: one.jwks ?? jwks,
  }));
  if (complete.some((one) => one.jwksUri !== undefined && one.jwks !== undefined))
    throw new TypeError(`${name}: \`jwks\` has the keys, so \`jwksUri\` is not needed. Pass one of the two.`);
  return complete;
}
