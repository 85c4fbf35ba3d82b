import type { JsonObject } from '../../../jsonrpc/message.js';

/** A client that the operator registered. */
export interface KnownClient {
  /** The client id. */
  readonly id: string;
  /** The secret, at least 32 characters. Default: none; the client is public. */
  readonly secret?: string | undefined;
  /** The name on the consent page. */
  readonly name: string;
  /** The redirect URIs. A request must have one of them exactly; only the port of a URI on the user's computer may differ. */
  readonly redirectUris: readonly string[];
}

/** A client of the proxy, whichever way it was registered. */
export interface ProxyClient {
  readonly id: string;
  /** Registered by the operator, described by its own document, or registered by itself. */
  readonly kind: 'known' | 'document' | 'dynamic';
  /** The name. Only that of a known client is more than the client's own claim. */
  readonly name: string | undefined;
  readonly redirectUris: readonly string[];
  /** How the client proves at the token endpoint who it is. */
  readonly authentication:
    | { readonly method: 'none' }
    | { readonly method: 'secret'; readonly secret: string }
    | {
        readonly method: 'private_key_jwt';
        readonly jwks: JsonObject | undefined;
        readonly jwksUri: string | undefined;
      };
  readonly mayRefresh: boolean;
}
