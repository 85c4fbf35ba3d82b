import type { AuthInit } from '../../protocol/caller.js';
import { type OptionTable, readOptions, type WithDefaults } from '../../protocol/checks/options.js';
import type { AuthContext } from '../../state/auth-provider.js';
import type { UpstreamProvider } from '../proxy/upstream/provider.js';
import { checkChosenUrl } from '../server/keys/load-keys.js';
import type { TokenVault } from './vault-tokens.js';

/** The options of `userTokens`. */
export interface UserTokensOptions {
  /** The provider whose tokens the server behind the proxy accepts, and your registration there: `github(…)`, `openId(…)` … */
  readonly upstream: UpstreamProvider;
  /** Where the tokens of the users are kept. */
  readonly vault: TokenVault;
  /** The URL at which users reach `handler`. Register it with `/callback` after it as the redirect URI at the provider. */
  readonly publicUrl: string;
  /**
   * Identifies the user of a browser, by the session of your website: as the same `subject` and `issuer` that the calls of the user have.
   * Without it, one user could bind the account of another one to their own calls.
   */
  readonly browserUser: (
    request: Request,
  ) => AuthInit | undefined | null | Promise<AuthInit | undefined | null>;
  /** The sentence for the user who has to log in. Default: one with the name of the provider. */
  readonly message?: string | undefined;
  /** The time for a login, in milliseconds. Default: 10 minutes. */
  readonly loginMs?: number | undefined;
  /** The hosts of the provider on private networks. Default: none. */
  readonly privateHosts?: readonly string[] | undefined;
  /** Receives messages for the operator. They never contain a token. Default: lines on standard error. */
  readonly logger?: AuthContext['log'] | undefined;
}

const optionTable = {
  upstream: 'any',
  vault: 'any',
  publicUrl: 'any',
  browserUser: 'any',
  message: 'string',
  loginMs: { is: 'timer', default: 600_000 },
  privateHosts: 'strings',
  logger: 'function',
} as const satisfies OptionTable<UserTokensOptions>;

/** The options of `userTokens` with their defaults. */
export type UserTokensSettings = WithDefaults<UserTokensOptions, 'loginMs'>;

/** Checks the options and fills in the defaults. Throws a TypeError that says what is wrong. */
export function readUserTokensOptions(given: UserTokensOptions): UserTokensSettings {
  const options = readOptions('userTokens', given, optionTable);
  const { upstream, vault, publicUrl, browserUser } = options;
  const wrong = (what: string): TypeError => new TypeError(`userTokens: ${what}`);
  if (typeof upstream?.identify !== 'function')
    throw wrong('`upstream` must be a provider, such as `github(…)` makes.');
  if (['get', 'set', 'delete'].some((name) => typeof Reflect.get(Object(vault), name) !== 'function'))
    throw wrong('`vault` must have `get`, `set` and `delete`.');
  if (typeof browserUser !== 'function')
    throw wrong('`browserUser` is required: it makes sure that nobody finishes the login of somebody else.');
  checkChosenUrl('userTokens', publicUrl, { option: 'publicUrl', privateHosts: options.privateHosts ?? [] });
  const { search, hash, pathname } = new URL(publicUrl);
  if (search !== '' || hash !== '' || pathname.endsWith('/'))
    throw wrong(
      '`publicUrl` must have a path that does not end with a slash, and neither a query nor a fragment.',
    );
  return options;
}
