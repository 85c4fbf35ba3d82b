import { type FilledOptions, type OptionTable, readOptions } from '../../protocol/checks/options.js';
import {
  type AuthorizationOptions,
  authorizationTable,
  createAuth,
  type OAuthClient,
  type OAuthRuntime,
  storeOf,
} from './create-auth.js';
import type { ClientIdentity, Grant, GrantContext } from './grants/grant.js';
import { clientCredentialsGrant, exchangeIdToken, jwtBearerGrant } from './grants/machine.js';
import { Clients, identityOf, type RegisteredClient } from './registration.js';
import type { TokenStore } from './store/token-store.js';

// Clients that act for themselves, or for a user whom somebody else has authenticated.

/** The options of `clientCredentials`. */
export interface ClientCredentialsOptions extends AuthorizationOptions, RegisteredClient {}

/** The options of `workloadIdentity`. */
export interface WorkloadIdentityOptions extends AuthorizationOptions, RegisteredClient {
  /** The assertion that the platform issues for this workload, or a function that reads it, called for each token. */
  readonly assertion: string | (() => string | Promise<string>);
}

/** The options of `enterprise`. */
export interface EnterpriseOptions extends AuthorizationOptions, RegisteredClient {
  /** The identity provider of the enterprise, at which the user is logged in. */
  readonly identityProvider: {
    /** Its token endpoint. */
    readonly tokenEndpoint: string;
    /** Its issuer. Default: the origin of its token endpoint. */
    readonly issuer?: string | undefined;
    /** The client's id there. */
    readonly clientId: string;
    /** The client's secret there. Default: none. */
    readonly clientSecret?: string | undefined;
  };
  /** The user's ID token, or a function that returns a fresh one, called for each token. */
  readonly idToken: string | (() => string | Promise<string>);
}

const required = { is: 'string', required: true } as const;
const secretTable = { clientId: required, clientSecret: 'string', issuer: 'string' } as const;

/** The table of `ClientCredentialsOptions`. */
const clientTable = {
  ...authorizationTable,
  ...secretTable,
  authentication: 'object',
} as const satisfies OptionTable<ClientCredentialsOptions>;

const readable = { is: ['string', 'function'], required: true } as const;

const workloadTable = {
  ...clientTable,
  assertion: readable,
} as const satisfies OptionTable<WorkloadIdentityOptions>;

const enterpriseTable = {
  ...clientTable,
  identityProvider: { is: 'object', required: true, options: { ...secretTable, tokenEndpoint: required } },
  idToken: readable,
} as const satisfies OptionTable<EnterpriseOptions>;

type ClientSettings = FilledOptions<ClientCredentialsOptions, typeof clientTable>;

/** Makes the functions for clients without a user, for a runtime. */
export function makeMachineClients(runtime: OAuthRuntime): {
  readonly clientCredentials: (options: ClientCredentialsOptions) => OAuthClient;
  readonly workloadIdentity: (options: WorkloadIdentityOptions) => OAuthClient;
  readonly enterprise: (options: EnterpriseOptions) => OAuthClient;
} {
  function machine(
    kind: string,
    options: ClientSettings,
    obtain: (context: GrantContext, identity: ClientIdentity) => ReturnType<Grant['obtain']>,
  ): OAuthClient {
    const { clientId, issuer } = options;
    const store = storeOf(options);
    const clients = clientsOf(options, store);
    return createAuth({
      options,
      runtime,
      store,
      kind: `${kind} ${encodeURIComponent(clientId)}`,
      preferredIssuers: issuer === undefined ? [] : [issuer],
      grant: {
        isInteractive: false,
        needsPkce: () => false,
        obtain: async (context) => obtain(context, await clients.find(context, undefined)),
        identityOf: (context, id) => clients.known(context, id),
        // It was registered by hand: there is nothing to forget.
        async forgetClient() {},
      },
    });
  }

  return {
    clientCredentials: (given) =>
      machine('client', readOptions('clientCredentials', given, clientTable), clientCredentialsGrant),
    workloadIdentity(given) {
      const options = readOptions('workloadIdentity', given, workloadTable);
      return machine('workload', options, async (context, identity) =>
        jwtBearerGrant(context, identity, await read(options.assertion)),
      );
    },
    enterprise(given) {
      const options = readOptions('enterprise', given, enterpriseTable);
      return machine('enterprise', options, async (context, identity) => {
        const { tokenEndpoint, issuer = new URL(tokenEndpoint).origin, ...client } = options.identityProvider;
        const provider = { issuer, token_endpoint: tokenEndpoint };
        const assertion = await exchangeIdToken(context, {
          provider,
          identity: identityOf(client, provider),
          idToken: await read(options.idToken),
        });
        return jwtBearerGrant(context, identity, assertion);
      });
    },
  };
}

function clientsOf(options: ClientSettings, store: TokenStore): Clients {
  const { clientId, clientSecret, issuer, authentication, account } = options;
  return new Clients({
    store,
    account,
    registered: [{ clientId, clientSecret, issuer, authentication }],
    metadataUrl: undefined,
    description: {},
    ask: undefined,
    grantTypes: [],
  });
}

async function read(value: string | (() => string | Promise<string>)): Promise<string> {
  return typeof value === 'function' ? value() : value;
}
