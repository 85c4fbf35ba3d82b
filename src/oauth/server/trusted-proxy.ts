import type { Auth } from '../../protocol/call.js';
import { toAuth } from '../../protocol/caller.js';
import { addressMatcher } from '../../protocol/checks/ip-addresses.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { isSameDigest } from '../../protocol/encoding/same-digest.js';
import type { AuthProvider, AuthRequest, ResourceFacts } from '../../state/auth-provider.js';
import type { ProviderOptions } from './bearer.js';
import { invalidToken } from './credentials.js';
import { type DigestRuntime, TokenDigest } from './digests.js';

/** The options of `trustedProxy`. One of `addresses` and `secret` is required; with both, a request needs both. */
export interface TrustedProxyOptions extends ProviderOptions {
  /** The header that has the name of the caller, such as `x-authenticated-user`. The gateway removes it from the requests of clients. */
  readonly header: string;
  /** The header that has the scopes of the caller, with spaces or commas between them. Default: callers have no scopes. */
  readonly scopesHeader?: string | undefined;
  /** The header that has the verified email address of the caller. Default: none. */
  readonly emailHeader?: string | undefined;
  /** The issuer of the callers. Set it if another provider has callers with the same names. Default: none. */
  readonly issuer?: string | undefined;
  /** The IP addresses of the gateway, or ranges of them, such as `10.0.0.0/8`. Needs a runtime that shows the address: Node. */
  readonly addresses?: readonly string[] | undefined;
  /** The secret that the gateway sends with each request. Default: none. */
  readonly secret?: GatewaySecret | undefined;
  /** The facts that clients need before they can log in at the gateway. Default: none. */
  readonly resource?: ResourceFacts | undefined;
}

/** A secret that only the gateway and the server know. */
type GatewaySecret = {
  /** The header that has the secret, such as `x-gateway-secret`. */
  readonly header: string;
  /** The secret: at least 32 characters. In an array, all of them are accepted, so that it can be replaced. */
  readonly value: string | readonly string[];
};

const MIN_SECRET = 32;
const MAX_VALUE = 8192;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Makes `trustedProxy` for a runtime. */
export function makeTrustedProxy(runtime: DigestRuntime): (options: TrustedProxyOptions) => AuthProvider {
  return function trustedProxy(options) {
    const { optional, issuer, resource, addresses, secret } = readOptions(
      'trustedProxy',
      options,
      optionTable,
      {
        ips: 'addresses',
        cidrs: 'addresses',
        subjectHeader: 'header',
      },
    );
    const header = headerName('header', options.header);
    const scopesHeader = options.scopesHeader && headerName('scopesHeader', options.scopesHeader);
    const emailHeader = options.emailHeader && headerName('emailHeader', options.emailHeader);
    if ((addresses === undefined || addresses.length === 0) && secret === undefined)
      throw new TypeError(
        'trustedProxy needs "addresses" or "secret": without them, anybody who reaches this server could pretend to be any caller.',
      );
    const isGateway = addresses === undefined ? undefined : addressMatcher(addresses);
    const digest = new TokenDigest();
    const hasSecret = secret === undefined ? undefined : secretCheck(secret, digest);

    async function isTrusted(request: AuthRequest): Promise<boolean> {
      const { remoteAddress } = request;
      if (isGateway !== undefined && (remoteAddress === undefined || !isGateway(remoteAddress))) return false;
      return hasSecret === undefined || hasSecret(request);
    }

    return {
      optional,
      resource,
      start: () => digest.load(runtime),
      async check(request): Promise<Auth | undefined> {
        const subject = request.header(header);
        if (subject === undefined || subject === '') return undefined;
        if (!(await isTrusted(request)))
          throw invalidToken('Only the gateway of this server can name the caller. Send the request there.');
        return toAuth({
          subject: single(subject),
          ...(issuer !== undefined && { issuer }),
          ...(scopesHeader && { scopes: list(request.header(scopesHeader)) }),
          ...(emailHeader && emailOf(request.header(emailHeader))),
        });
      },
    };
  };
}

const optionTable = {
  header: 'any',
  scopesHeader: 'any',
  emailHeader: 'any',
  issuer: 'string',
  addresses: 'strings',
  secret: 'any',
  resource: 'object',
  optional: { is: 'boolean', default: false },
} as const satisfies OptionTable<TrustedProxyOptions>;

// Runtimes join the values of a repeated header with commas. A gateway that adds its header beside that of the client has two.
function single(value: string): string {
  if (value.length <= MAX_VALUE && !value.includes(',')) return value;
  throw invalidToken('The caller has several names. The gateway must replace the header of the client.');
}

function list(value: string | undefined): readonly string[] {
  if (value === undefined || value.length > MAX_VALUE) return [];
  return [...new Set(value.split(/[ ,]/).filter((scope) => scope !== ''))];
}

function emailOf(value: string | undefined): { readonly email?: string } {
  return value === undefined || value === '' ? {} : { email: single(value) };
}

function headerName(option: string, name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return name.toLowerCase();
  throw new TypeError(
    `trustedProxy: "${option}" must be the name of a header, such as "x-authenticated-user".`,
  );
}

function secretCheck(
  { header, value }: GatewaySecret,
  digest: TokenDigest,
): (request: AuthRequest) => Promise<boolean> {
  const name = headerName('secret.header', header);
  const values = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(values) || values.length === 0 || values.some(isShort))
    throw new TypeError(
      `trustedProxy: "secret.value" must be a string of at least ${MIN_SECRET} characters.`,
    );
  let digests: Promise<readonly string[]> | undefined;
  return async function hasSecret(request) {
    const given = request.header(name);
    if (given === undefined || given.length > MAX_VALUE) return false;
    digests ??= Promise.all(values.map((one) => digest.of(one)));
    const [ofGiven, known] = await Promise.all([digest.of(given), digests]);
    return known.filter((one) => isSameDigest(one, ofGiven)).length > 0;
  };
}

function isShort(value: unknown): boolean {
  return typeof value !== 'string' || value.length < MIN_SECRET;
}
