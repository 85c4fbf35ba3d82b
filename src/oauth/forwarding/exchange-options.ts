import { type OptionTable, readOptions, type WithDefaults } from '../../protocol/checks/options.js';
import type { AuthContext } from '../../state/auth-provider.js';
import type { ClientAuthentication } from '../client/hops/authentication.js';
import { checkChosenUrl, chosenHosts } from '../server/keys/load-keys.js';

// The options of `exchangeToken`, and their checks.

/** The options of `exchangeToken`. `issuer` or `tokenEndpoint` is required, and so is `audience` or `resource`. */
export interface ExchangeTokenOptions {
  /** The authorization server that exchanges tokens. Its metadata has the token endpoint. */
  readonly issuer?: string | undefined;
  /** The URL of the token endpoint. Default: the `token_endpoint` of the issuer's metadata. */
  readonly tokenEndpoint?: string | undefined;
  /** The id of the proxy at the authorization server. */
  readonly clientId: string;
  /** The secret of the proxy at the authorization server. Default: none. */
  readonly clientSecret?: string | undefined;
  /** The way to authenticate, such as `privateKeyJwt` makes. Default: with the secret, as the authorization server prefers. */
  readonly authentication?: ClientAuthentication | undefined;
  /** The names of the server behind the proxy, as the authorization server knows it. Default: none. */
  readonly audience?: string | readonly string[] | undefined;
  /** The URLs of the server behind the proxy. Default: none. */
  readonly resource?: string | readonly string[] | undefined;
  /** The scopes to ask for. Default: those that the authorization server chooses. */
  readonly scopes?: readonly string[] | undefined;
  /** The type of the callers' tokens. Default: `urn:ietf:params:oauth:token-type:access_token`. */
  readonly subjectTokenType?: string | undefined;
  /** The type of token to ask for. Default: `urn:ietf:params:oauth:token-type:access_token`. */
  readonly requestedTokenType?: string | undefined;
  /** The number of callers whose tokens are cached. Default: 10,000. */
  readonly maxCallers?: number | undefined;
  /** The hosts on private networks that may be asked, besides those of `issuer` and `tokenEndpoint`. Default: none. */
  readonly privateHosts?: readonly string[] | undefined;
  /** Receives messages for the operator. They never contain a token. Default: lines on standard error. */
  readonly logger?: AuthContext['log'] | undefined;
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

const optionTable = {
  issuer: 'string',
  tokenEndpoint: 'string',
  clientId: 'any',
  clientSecret: 'string',
  authentication: 'any',
  audience: 'any',
  resource: 'any',
  scopes: 'any',
  subjectTokenType: { is: 'string', default: ACCESS_TOKEN },
  requestedTokenType: { is: 'string', default: ACCESS_TOKEN },
  maxCallers: { is: 'count', default: 10_000 },
  privateHosts: 'strings',
  logger: 'function',
} as const satisfies OptionTable<ExchangeTokenOptions>;

/** The options of `exchangeToken` with their defaults. */
export type ExchangeSettings = WithDefaults<
  ExchangeTokenOptions,
  'subjectTokenType' | 'requestedTokenType' | 'maxCallers'
>;

/** Checks the options, and fills in the defaults and the hosts on private networks that may be asked. */
export function readExchangeOptions(
  given: ExchangeTokenOptions,
): ExchangeSettings & { readonly privateHosts: readonly string[] } {
  const options = readOptions('exchangeToken', given, optionTable);
  const { issuer, tokenEndpoint, clientId } = options;
  if (issuer === undefined && tokenEndpoint === undefined)
    throw wrong('`issuer` or `tokenEndpoint` is required.');
  if (typeof clientId !== 'string' || clientId === '')
    throw wrong('`clientId` must be the id of the proxy at the authorization server.');
  // A token for no server in particular could be used at every server that the one behind the proxy knows.
  const names = [...namesIn(options, 'audience'), ...namesIn(options, 'resource')];
  if (names.length === 0)
    throw wrong('`audience` or `resource` is required: it names the server that the tokens are for.');
  namesIn(options, 'scopes');
  const privateHosts = chosenHosts([issuer, tokenEndpoint], options.privateHosts);
  for (const option of ['issuer', 'tokenEndpoint'] as const) {
    const url = options[option];
    if (url !== undefined) checkChosenUrl('exchangeToken', url, { option, privateHosts });
  }
  return { ...options, privateHosts };
}

/** The values of an option that may have several. */
export function namesIn(
  options: ExchangeTokenOptions,
  option: 'audience' | 'resource' | 'scopes',
): readonly string[] {
  const value: unknown = options[option] ?? [];
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (
    names.some((name) => typeof name !== 'string' || name === '') ||
    (option === 'scopes' && value === names[0])
  )
    throw wrong(
      `\`${option}\` must be ${option === 'scopes' ? '' : 'a string or '}an array of strings that are not empty.`,
    );
  return names as readonly string[];
}

function wrong(what: string): TypeError {
  return new TypeError(`exchangeToken: ${what}`);
}
