// The entry `fullmcp/oauth`: authorizes clients.

import { hasNode, lazySafeFetch } from './adapters/node/fetch/lazy-safe-fetch.js';
import type { FileTokenStoreOptions } from './adapters/node/oauth/file-token-store.js';
import type { OAuthRuntime } from './oauth/client/create-auth.js';
import { makeMachineClients } from './oauth/client/machine-clients.js';
import { makeOAuth } from './oauth/client/oauth.js';
import type { TokenStore } from './oauth/client/store/token-store.js';
import type { ExchangeTokenOptions } from './oauth/forwarding/exchange-options.js';
import { type ExchangedIdentity, makeExchangeToken } from './oauth/forwarding/exchange-token.js';
import type { Call } from './protocol/call.js';
import { type OptionTable, readOptions } from './protocol/checks/options.js';

export type { FileTokenStoreOptions } from './adapters/node/oauth/file-token-store.js';
export type { OAuthClient } from './oauth/client/create-auth.js';
export {
  type ClientAuthentication,
  type PrivateKeyJwtOptions,
  privateKeyJwt,
} from './oauth/client/hops/authentication.js';
export type { OAuthEvent, OAuthHop } from './oauth/client/hops/events.js';
export type { HopErrorData } from './oauth/client/hops/failures.js';
export type {
  ClientCredentialsOptions,
  EnterpriseOptions,
  WorkloadIdentityOptions,
} from './oauth/client/machine-clients.js';
export type { OAuthOptions } from './oauth/client/oauth.js';
export type { RegisteredClient } from './oauth/client/registration.js';
export { memoryTokenStore } from './oauth/client/store/memory-token-store.js';
export type { TokenLock, TokenStore, TokenWrite } from './oauth/client/store/token-store.js';
export type { SafeFetch, SafeFetchInit } from './oauth/fetch/safe-fetch.js';
export type { ExchangeTokenOptions } from './oauth/forwarding/exchange-options.js';
export type { ExchangedIdentity } from './oauth/forwarding/exchange-token.js';
export type { Call } from './protocol/call.js';
export type {
  AuthHeaders,
  AuthorizedRequest,
  ChallengedRequest,
  ChallengeReply,
  ClientAuth,
} from './protocol/model/client-auth.js';

// The code for Node is loaded when it is needed, so that other runtimes never load it.
const runtime: OAuthRuntime = {
  safeFetch: lazySafeFetch,
  ...(hasNode() && {
    browser: (options) => ({
      async start(how) {
        const { browserUserAgent } = await import('./adapters/node/oauth/loopback.js');
        return browserUserAgent(options).start(how);
      },
    }),
  }),
};

/**
 * Logs a user in: `connect(url, { auth: oauth() })` opens the browser when the server asks for it, and refreshes tokens from then
 * on. Pass a `store`, such as `fileTokenStore` makes, to stay logged in when the program ends.
 * @example
 * ```ts
 * const auth = oauth({ client: { name: 'My program' } });
 * await using client = await connect('https://example.com/mcp', { auth });
 * ```
 */
export const oauth: ReturnType<typeof makeOAuth> = /* @__PURE__ */ makeOAuth(runtime);

const machineClients: ReturnType<typeof makeMachineClients> = /* @__PURE__ */ makeMachineClients(runtime);
/**
 * Authorizes a program that acts for itself, with its own secret or key.
 * @example
 * ```ts
 * const auth = clientCredentials({ clientId: 'nightly-report', clientSecret, issuer: 'https://login.example.com' });
 * ```
 */
export const clientCredentials: (typeof machineClients)['clientCredentials'] =
  machineClients.clientCredentials;
/** Authorizes a workload with the assertion that its platform issues (a Kubernetes service account, a CI job). */
export const workloadIdentity: (typeof machineClients)['workloadIdentity'] = machineClients.workloadIdentity;
/** Authorizes a user whom the identity provider of an enterprise has authenticated, without another consent. */
export const enterprise: (typeof machineClients)['enterprise'] = machineClients.enterprise;

/**
 * Makes the `identity` of a proxy that exchanges the tokens of its callers for tokens of the server behind it (RFC 8693). Each caller's
 * token is exchanged once and cached until shortly before it expires. Callers without a token are refused.
 * @example
 * ```ts
 * const identity = exchangeToken({ issuer: 'https://login.example.com', clientId: 'proxy', clientSecret, resource: url });
 * const upstream = proxy(url, { identity });
 * ```
 */
export const exchangeToken: (options: ExchangeTokenOptions) => (call: Call) => Promise<ExchangedIdentity> =
  /* @__PURE__ */ makeExchangeToken(runtime);

const fileStoreTable = {
  folder: { is: 'string', required: true },
  key: ['string', 'object', 'function'],
} as const satisfies OptionTable<FileTokenStoreOptions>;

/**
 * Makes a token store in a folder: encrypted files (AES-256-GCM) that only their owner can read. Processes may share it. Needs
 * Node, Bun or Deno.
 * @example
 * ```ts
 * const store = fileTokenStore({ folder: '/home/me/.my-program/tokens', key: () => keychain.read('my-program') });
 * const auth = oauth({ store });
 * ```
 */
export function fileTokenStore(given: FileTokenStoreOptions): TokenStore {
  const options = readOptions('fileTokenStore', given, fileStoreTable);
  let opened: Promise<TokenStore> | undefined;
  const open = (): Promise<TokenStore> => {
    opened ??= import('./adapters/node/oauth/file-token-store.js').then((node) =>
      node.fileTokenStore(options),
    );
    return opened;
  };
  return {
    get: async (key) => (await open()).get(key),
    set: async (key, value, write) => (await open()).set(key, value, write),
    delete: async (key) => (await open()).delete(key),
    lock: async (key, lock) => (await open()).lock(key, lock),
  };
}
