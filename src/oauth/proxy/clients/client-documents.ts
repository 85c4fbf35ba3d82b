import { ExpiringMap } from '../../../async/expiring-map.js';
import { Flights } from '../../../async/flight.js';
import { type FetchedClient, fetchClientDocument } from '../../documents/cimd/client-document.js';
import type { ClientDocumentProfile } from '../../documents/cimd/client-id.js';
import { DocumentError } from '../../documents/document-error.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';
import { OAuthError } from '../tokens/oauth-error.js';
import type { ProxyClient } from './client.js';
import { redirectUriProblem } from './redirect-uris.js';

const MAX_CACHED = 1000;
const MAX_FETCHING = 20;
/** Nobody can make this server flood a host, and a slow host does not keep the clients of others waiting. */
const MAX_FETCHING_AT_HOST = 4;

/**
 * The clients that are described by a document at their client id. Documents are fetched only from public addresses, and cached
 * as long as their servers say, within bounds.
 */
export class ClientDocuments {
  readonly #fetch: SafeFetch;
  readonly #profile: ClientDocumentProfile;
  readonly #schemes: readonly string[];
  readonly #cached = new ExpiringMap<ProxyClient>({ maxEntries: MAX_CACHED, now: () => performance.now() });
  readonly #fetching = new Flights<string, ProxyClient>();

  constructor(options: {
    readonly fetch: SafeFetch;
    readonly profile: ClientDocumentProfile;
    readonly schemes: readonly string[];
  }) {
    this.#fetch = options.fetch;
    this.#profile = options.profile;
    this.#schemes = options.schemes;
  }

  /** The client with this id. Throws an OAuthError that says why there is none. */
  async find(id: string): Promise<ProxyClient> {
    const cached = this.#cached.get(id);
    if (cached !== undefined) return cached;
    const fetching = this.#fetching.get(id);
    if (fetching !== undefined) return fetching.join();
    // Anyone can name a document. The fetches of all of them together are limited.
    const atHost = [...this.#fetching.keys()].filter((other) => hostOf(other) === hostOf(id));
    if (this.#fetching.size >= MAX_FETCHING || atHost.length >= MAX_FETCHING_AT_HOST)
      throw new OAuthError('temporarily_unavailable', 'Too many clients log in at once. Retry in a moment.');
    return this.#fetching.start(id, () => this.#load(id)).join();
  }

  async #load(id: string): Promise<ProxyClient> {
    const { client, cacheMs } = await this.#fetchDocument(id);
    const { tokenEndpointAuthMethod: method, jwks, jwksUri, grantTypes } = client;
    if (method !== 'none' && method !== 'private_key_jwt')
      throw new OAuthError(
        'invalid_client',
        `The method ${JSON.stringify(method)} of the client is not supported.`,
      );
    for (const uri of client.redirectUris) {
      const problem = redirectUriProblem(uri, this.#schemes);
      if (problem !== undefined)
        throw new OAuthError('invalid_client', `A redirect URI of the client ${problem}.`);
    }
    const found: ProxyClient = {
      id,
      kind: 'document',
      name: client.name,
      redirectUris: client.redirectUris,
      authentication: method === 'none' ? { method } : { method, jwks, jwksUri },
      mayRefresh: grantTypes.includes('refresh_token'),
    };
    this.#cached.set(id, found, cacheMs);
    return found;
  }

  async #fetchDocument(id: string): Promise<FetchedClient> {
    try {
      return await fetchClientDocument(id, { fetch: this.#fetch, profile: this.#profile });
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      const code = error.code === 'unavailable' ? 'temporarily_unavailable' : 'invalid_client';
      throw new OAuthError(code, error.message, { cause: error });
    }
  }
}

function hostOf(id: string): string | undefined {
  return URL.canParse(id) ? new URL(id).host : undefined;
}
