import { checkSecret } from '../../../protocol/checks/secret.js';
import { OAuthError } from '../tokens/oauth-error.js';
import type { KnownClient, ProxyClient } from './client.js';
import type { ClientDocuments } from './client-documents.js';
import { redirectUriProblem } from './redirect-uris.js';
import type { Registrations } from './registration.js';

const MAX_CLIENT_ID = 2048;

/** Finds clients, in the order of the specification: known ones, documents, and those that registered themselves. */
export class ClientDirectory {
  readonly #known: ReadonlyMap<string, ProxyClient>;
  readonly #documents: ClientDocuments | undefined;
  readonly #registrations: Registrations | undefined;

  constructor(parts: {
    readonly known: ReadonlyMap<string, ProxyClient>;
    readonly documents: ClientDocuments | undefined;
    readonly registrations: Registrations | undefined;
  }) {
    this.#known = parts.known;
    this.#documents = parts.documents;
    this.#registrations = parts.registrations;
  }

  /** The client with this id. Throws `invalid_client` if there is none. */
  async find(id: string): Promise<ProxyClient> {
    if (id.length > MAX_CLIENT_ID) throw unknownClient();
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (/^https:/i.test(id)) {
      if (this.#documents === undefined) throw unknownClient();
      return this.#documents.find(id);
    }
    const registered = await this.#registrations?.find(id);
    if (registered === undefined) throw unknownClient();
    return registered;
  }

  /** Whether the operator registered the client. Everybody else is who they say they are. */
  isKnown(id: string): boolean {
    return this.#known.has(id);
  }

  /** Called when a client has used its registration. */
  async extend({ kind, id }: ProxyClient): Promise<void> {
    if (kind === 'dynamic') await this.#registrations?.extend(id);
  }
}

/** The clients of the options. Throws a TypeError that says what is wrong. */
export function readKnownClients(
  clients: readonly KnownClient[],
  schemes: readonly string[],
): ReadonlyMap<string, ProxyClient> {
  const known = new Map<string, ProxyClient>();
  for (const { id, secret, name, redirectUris } of clients) {
    const refuse = (why: string): TypeError =>
      new TypeError(`oauthProxy: the client ${JSON.stringify(id)} ${why}.`);
    if (typeof id !== 'string' || id === '' || /^https:/i.test(id))
      throw refuse('must have an id that is not a URL');
    if (known.has(id)) throw refuse('is in "clients" twice');
    if (typeof name !== 'string' || name === '') throw refuse('must have a name');
    if (redirectUris.length === 0) throw refuse('must have redirect URIs');
    for (const uri of redirectUris) {
      const problem = redirectUriProblem(uri, schemes);
      if (problem !== undefined) throw refuse(`has a redirect URI that ${problem}`);
    }
    if (secret !== undefined) checkSecret(secret);
    known.set(id, {
      id,
      kind: 'known',
      name,
      redirectUris,
      authentication: secret === undefined ? { method: 'none' } : { method: 'secret', secret },
      mayRefresh: true,
    });
  }
  return known;
}

function unknownClient(): OAuthError {
  return new OAuthError(
    'invalid_client',
    'The client is not registered here, or its registration has expired.',
  );
}
