import { withDeadline } from '../../async/deadline.js';
import { type FilledOptions, type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { McpError } from '../../protocol/errors.js';
import {
  type AuthorizationOptions,
  accountOf,
  authorizationTable,
  createAuth,
  type OAuthClient,
  type OAuthRuntime,
  storeOf,
} from './create-auth.js';
import { exceptionsOf } from './discovery.js';
import { authorizationCode } from './grants/authorization-code.js';
import { deviceCode } from './grants/device-code.js';
import type { AuthorizationTarget, Grant, GrantContext, IssuedTokens } from './grants/grant.js';
import { clientCredentialsGrant } from './grants/machine.js';
import type { ClientDescription } from './grants/register.js';
import { hopError } from './hops/failures.js';
import { Clients, type RegisteredClient } from './registration.js';
import { type HeadlessAuthorize, headlessUserAgent, type UserAgent } from './user-agent.js';

// The login of a user.

/** The options of `oauth`. */
export interface OAuthOptions extends AuthorizationOptions {
  /** The description of the program for authorization servers that let clients register themselves. */
  readonly client?: ClientDescription | undefined;
  /**
   * Clients that were registered by hand. Each is used only at its issuer. At an authorization server that has no logins of users
   * and issues tokens only to clients, the client's secret takes the place of the login. Default: none.
   */
  readonly registered?: RegisteredClient | readonly RegisteredClient[] | undefined;
  /** The https URL of the client's own metadata document, used where the authorization server supports it. Default: none. */
  readonly clientMetadataUrl?: string | undefined;
  /** Asks the user for a registered client, where the client cannot register itself. Default: the login fails. */
  readonly askForClient?: ((issuer: string) => Promise<RegisteredClient | undefined>) | undefined;
  /** How the user logs in: with a browser on this computer, or by entering a code on another device. Default: `browser`. */
  readonly flow?: 'browser' | 'device' | undefined;
  /**
   * The URI that the browser is sent back to. Default: `http://127.0.0.1` with a free port. With `authorize`, it may be any that
   * the client is registered with.
   */
  readonly redirectUri?: string | undefined;
  /** Shows the user the URL to log in at. Default: opens the system's browser. */
  readonly open?: ((url: string) => unknown) | undefined;
  /**
   * Logs in without a server on this computer: gets the URL, and returns the URL that the browser was sent back to. Needs
   * `redirectUri`. Default: a server on this computer waits for the browser.
   */
  readonly authorize?: HeadlessAuthorize | undefined;
  /** The longest time that a login may take, in milliseconds. Default: 5 minutes. */
  readonly loginTimeoutMs?: number | undefined;
}

const optionTable = {
  ...authorizationTable,
  client: { is: 'object', options: { name: 'string', url: 'string', logoUrl: 'string' }, default: {} },
  registered: ['object', 'array'],
  clientMetadataUrl: 'string',
  askForClient: 'function',
  flow: { oneOf: ['browser', 'device'], default: 'browser' },
  redirectUri: 'string',
  open: 'function',
  authorize: 'function',
  loginTimeoutMs: { is: 'timer', default: 5 * 60_000 },
} as const satisfies OptionTable<OAuthOptions>;

type OAuthSettings = FilledOptions<OAuthOptions, typeof optionTable>;

/** Makes the function `oauth` for a runtime. */
export function makeOAuth(runtime: OAuthRuntime): (options?: OAuthOptions) => OAuthClient {
  return function oauth(given = {}) {
    const options = readOptions('oauth', given, optionTable);
    const registered = listOf(options.registered);
    checkTogether(options);
    const store = storeOf(options);
    const kind = 'user';
    const clients = new Clients({
      store,
      account: accountOf(kind, options),
      registered,
      metadataUrl: options.clientMetadataUrl,
      description: options.client,
      ask: options.askForClient,
      grantTypes:
        options.flow === 'device'
          ? ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token']
          : ['authorization_code', 'refresh_token'],
    });
    return createAuth({
      options,
      runtime,
      store,
      kind,
      grant: userGrant(options, clients, runtime),
      preferredIssuers: registered.flatMap(({ issuer }) => issuer ?? []),
    });
  };
}

function userGrant(options: OAuthSettings, clients: Clients, runtime: OAuthRuntime): Grant {
  const { flow, loginTimeoutMs } = options;
  const loginOf = flow === 'device' ? withDevice : withBrowser;
  const late = (): McpError =>
    hopError(`The user did not log in within ${Math.round(loginTimeoutMs / 1000)} seconds.`, {
      hop: 'authorization',
    });
  return {
    isInteractive: true,
    needsPkce: (target) => flow === 'browser' && !hasNoUsers(target),
    obtain(context) {
      const obtain = hasNoUsers(context.target) ? withSecret : loginOf;
      return withDeadline({ ms: loginTimeoutMs, signal: context.signal, reason: late }, (signal) =>
        obtain({ ...context, signal }),
      );
    },
    identityOf: (context, clientId) => clients.known(context, clientId),
    forgetClient: (issuer) => clients.forget(issuer),
  };

  /** Whether an authorization server issues tokens only to clients themselves, and this client has a secret or a key there. */
  function hasNoUsers({ issuer, metadata: { grant_types_supported: grants } }: AuthorizationTarget): boolean {
    if (grants === undefined || grants.includes('authorization_code')) return false;
    const { clientSecret, authentication } = clients.registeredAt(issuer) ?? {};
    return grants.includes('client_credentials') && (clientSecret ?? authentication) !== undefined;
  }

  async function withSecret(context: GrantContext): Promise<IssuedTokens> {
    return clientCredentialsGrant(context, await clients.find(context, undefined));
  }

  async function withBrowser(context: GrantContext): Promise<IssuedTokens> {
    const { issuer } = context.target;
    const waiting = await userAgentOf(options, runtime).start({
      preferred: await clients.redirectUris(issuer),
    });
    try {
      return await authorizationCode(context, {
        identity: await clients.find(context, waiting.redirectUri),
        redirectUri: waiting.redirectUri,
        authorize: waiting.authorize,
        parameters: exceptionsOf(options.issuers, issuer).parameters ?? {},
      });
    } finally {
      await waiting.close();
    }
  }

  async function withDevice(context: GrantContext): Promise<IssuedTokens> {
    return deviceCode(context, await clients.find(context, undefined));
  }
}

function userAgentOf(
  { authorize, redirectUri, open, client }: OAuthSettings,
  { browser }: OAuthRuntime,
): UserAgent {
  if (authorize !== undefined) return headlessUserAgent(redirectUri as string, authorize);
  if (browser !== undefined) return browser({ redirectUri, open, name: client.name ?? 'the program' });
  throw new McpError(
    'invalid_request',
    'This runtime cannot wait for a browser. Pass `authorize` and `redirectUri` to oauth().',
  );
}

/** Checks the options that depend on each other, and the URL. */
function checkTogether({ authorize, redirectUri, clientMetadataUrl, open }: OAuthSettings): void {
  if (authorize !== undefined && redirectUri === undefined)
    throw new TypeError('oauth: `authorize` needs `redirectUri`, the URI that the browser is sent back to.');
  if (authorize !== undefined && open !== undefined)
    throw new TypeError('oauth: `authorize` gets the URL itself. Leave out `open`.');
  // Spec 2025-11-25, Client ID Metadata Documents: https, with a path.
  if (clientMetadataUrl !== undefined && !/^https:\/\/[^/]+\/./.test(clientMetadataUrl))
    throw new TypeError('oauth: `clientMetadataUrl` must be an https URL with a path.');
}

function listOf(registered: OAuthOptions['registered']): readonly RegisteredClient[] {
  if (registered === undefined) return [];
  return Array.isArray(registered) ? registered : [registered as RegisteredClient];
}
