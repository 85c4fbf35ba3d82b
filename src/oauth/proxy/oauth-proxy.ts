import type { Auth } from '../../protocol/call.js';
import { readSecrets } from '../../protocol/checks/secret.js';
import { randomSecret } from '../../protocol/encoding/sealing.js';
import { McpError } from '../../protocol/errors.js';
import type { AuthContext, AuthProvider } from '../../state/auth-provider.js';
import { SHARING_ADVICE } from '../../state/cluster.js';
import type { SafeFetch } from '../fetch/safe-fetch.js';
import { readToken } from '../server/credentials.js';
import { type DigestRuntime, TokenDigest } from '../server/digests.js';
import { ClientDocuments } from './clients/client-documents.js';
import { ClientKeys } from './clients/client-keys.js';
import { ClientDirectory, readKnownClients } from './clients/clients.js';
import { Registrations } from './clients/registration.js';
import { createCookies } from './endpoints/cookies.js';
import { metadataOf } from './endpoints/metadata.js';
import { endpointUrl, type ProxyParts } from './endpoints/parts.js';
import { type OAuthProxyOptions, readOAuthProxyOptions } from './options.js';
import { createRoutes, runEndpoint } from './routes.js';
import { ACCESS_TOKEN_PREFIX, AccessTokens, LOGIN_CLAIM } from './tokens/access-tokens.js';
import type { LoginGrant } from './tokens/grant.js';
import { Grants } from './tokens/grants.js';
import { OAuthError } from './tokens/oauth-error.js';
import { Records } from './tokens/records.js';
import { Sealer } from './tokens/sealer.js';
import { UpstreamTokenKeeper } from './tokens/upstream-tokens.js';
import { Upstream } from './upstream/upstream.js';

/** An `AuthProvider` that is an authorization server of its own, in front of another provider. */
export interface OAuthProxy extends AuthProvider {
  /** The issuer, by which clients know the authorization server. */
  readonly issuer: string;
  /** The redirect URI to register at the provider. */
  readonly callbackUrl: string;
  /**
   * The access token of the caller at the provider, to call its API for the user. It is refreshed first if it is about to expire.
   * Never pass it on to the client. Throws an `unauthorized` error if the login has ended.
   * @example
   * ```ts
   * const token = await proxy.upstreamToken(ctx.auth);
   * const reply = await fetch('https://api.example.com/me', { headers: { authorization: `Bearer ${token}` } });
   * ```
   */
  upstreamToken(auth: Auth | undefined): Promise<string>;
}

/** The abilities of a runtime that the proxy needs. */
export interface ProxyRuntime extends DigestRuntime {
  readonly safeFetch: (options: { readonly privateHosts: readonly string[] }) => SafeFetch;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Makes the function for a runtime. */
export function makeOAuthProxy(runtime: ProxyRuntime): (options: OAuthProxyOptions) => OAuthProxy {
  return function oauthProxy(options) {
    const read = readOAuthProxyOptions(options);
    const { addresses, scopes } = read;
    const known = readKnownClients(options.clients ?? [], read.schemes);
    const findEndpoint = createRoutes(addresses);
    let started: Promise<ProxyParts> | undefined;
    let ready: ProxyParts | undefined;
    const partsOf = async (): Promise<ProxyParts> => {
      if (started === undefined)
        throw new Error(
          'oauthProxy: the server has not started it. Pass it as "auth" to serve() or to the adapter.',
        );
      return started;
    };

    async function build(context: AuthContext): Promise<ProxyParts> {
      const { shared, log } = context;
      if (context.secrets === undefined)
        log(
          'warning',
          `The authorization proxy uses a random secret, so all logins end when this process does. ${SHARING_ADVICE}`,
        );
      const secrets = context.secrets === undefined ? [randomSecret()] : readSecrets(context.secrets);
      const owner = JSON.stringify([shared.server, addresses.issuer, addresses.resource]);
      const sealer = new Sealer(secrets, owner);
      const records = new Records({ store: shared.store, sealer, owner });
      // The documents of clients may be anywhere but on private networks, even if the provider is on one.
      const clientFetch = options.fetch ?? runtime.safeFetch({ privateHosts: [] });
      const privateHosts = [...(options.privateHosts ?? []), new URL(options.upstream.issuer).origin];
      const upstream = new Upstream(options.upstream, {
        fetch: options.fetch ?? runtime.safeFetch({ privateHosts }),
        callback: endpointUrl(addresses, 'callback'),
        privateHosts,
      });
      const onRevoked = (grant: LoginGrant, why: string | undefined): void => {
        accessTokens.forget(grant.id);
        if (why !== undefined) log('warning', `${why} The login was ended. Client: ${grant.clientId}.`);
        upstream.revoke(grant.upstream).catch((error: Error) => {
          log('warning', `The tokens of an ended login were not revoked. ${error.message}`);
        });
      };
      const limits = { codeMs: 60_000, maxAgeMs: read.maxAgeMs, graceMs: read.refreshGraceMs };
      const grants = new Grants({ records, sealer }, { ...limits, onRevoked });
      const digest = new TokenDigest();
      await digest.load(runtime);
      const accessTokens = new AccessTokens({
        digest,
        sealer,
        grants,
        lifetimeMs: read.accessTokenMs,
        recheckMs: read.recheckMs,
      });
      const registrations =
        options.registration === false
          ? undefined
          : new Registrations(records, {
              maxPerHour: read.maxRegistrationsPerHour,
              unusedMs: DAY_MS,
              maxIdleMs: 90 * DAY_MS,
              schemes: read.schemes,
            });
      const { profile, schemes } = read;
      const documents =
        profile === undefined ? undefined : new ClientDocuments({ fetch: clientFetch, profile, schemes });
      const { unverifiedMaxAgeMs } = read;
      return {
        addresses,
        serverName: options.name ?? shared.server,
        scopes,
        defaultScopes: read.defaultScopes,
        admit: options.admit ?? (() => true),
        cookies: await createCookies(addresses.issuer),
        sealer,
        records,
        grants,
        accessTokens,
        clients: new ClientDirectory({ known, documents, registrations }),
        registrations,
        upstream,
        keeper: new UpstreamTokenKeeper({
          store: shared.store,
          grants,
          records,
          upstream,
          unverifiedMaxAgeMs,
        }),
        clientKeys: new ClientKeys(clientFetch),
        metadata: metadataOf({
          addresses,
          scopes: [...scopes.keys()],
          hasDocuments: documents !== undefined,
          hasRegistration: registrations !== undefined,
          hasSecrets: [...known.values()].some(({ authentication }) => authentication.method === 'secret'),
        }),
        log,
      };
    }

    return {
      issuer: addresses.issuer,
      callbackUrl: endpointUrl(addresses, 'callback'),
      publicUrl: addresses.resource,
      optional: options.optional ?? false,
      resource: {
        authorizationServers: [addresses.issuer],
        ...(scopes.size > 0 && { scopes: [...scopes.keys()] }),
        ...(options.defaultScopes !== undefined && { requiredScopes: options.defaultScopes }),
      },
      async start(context) {
        started ??= build(context).catch((error: unknown) => {
          started = undefined;
          throw error;
        });
        ready = await started;
      },
      // Not async: a token that is known already is answered at once.
      check(request) {
        const presented = readToken(request);
        // A token of another kind may be for another provider of the server.
        if (presented === undefined || !presented.startsWith(ACCESS_TOKEN_PREFIX)) return undefined;
        if (ready !== undefined) return ready.accessTokens.check(presented);
        return partsOf().then(({ accessTokens }) => accessTokens.check(presented));
      },
      async isStillValid(request) {
        const { accessTokens } = await partsOf();
        try {
          await accessTokens.check(readToken(request) ?? '');
          return true;
        } catch (error) {
          if (McpError.is(error) && error.code === 'unauthorized') return false;
          throw error;
        }
      },
      handle(request) {
        const endpoint = findEndpoint(new URL(request.url).pathname);
        return endpoint && partsOf().then((parts) => runEndpoint(endpoint, request, parts));
      },
      async upstreamToken(auth) {
        const { grants, keeper } = await partsOf();
        const id = auth?.claims[LOGIN_CLAIM];
        const grant = typeof id === 'string' ? await grants.find(id) : undefined;
        if (grant === undefined || grant.user.subject !== auth?.subject || grant.user.issuer !== auth.issuer)
          throw loginEnded();
        try {
          return (await keeper.freshen(grant)).accessToken;
        } catch (error) {
          if (error instanceof OAuthError && error.code === 'invalid_grant') throw loginEnded();
          throw new McpError(
            'overloaded',
            'The token of the provider cannot be refreshed now. Retry later.',
            {
              cause: error,
            },
          );
        }
      },
    };
  };
}

function loginEnded(): McpError {
  const message = 'The login of the caller at the provider has ended.';
  return new McpError('unauthorized', message, {
    challenge: { error: 'invalid_token', description: message },
  });
}
