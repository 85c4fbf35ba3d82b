import type { JsonObject } from '../../../jsonrpc/message.js';
import type { ClientKeys } from '../clients/client-keys.js';
import type { ClientDirectory } from '../clients/clients.js';
import type { Registrations } from '../clients/registration.js';
import type { AccessTokens } from '../tokens/access-tokens.js';
import type { Grants } from '../tokens/grants.js';
import type { Records } from '../tokens/records.js';
import type { Sealer } from '../tokens/sealer.js';
import type { UpstreamTokenKeeper } from '../tokens/upstream-tokens.js';
import type { UpstreamIdentity } from '../upstream/provider.js';
import type { Upstream } from '../upstream/upstream.js';
import type { Cookies } from './cookies.js';

/** A user who has logged in at the provider, and the client that asks for access. */
type AdmittedLogin = {
  /** The user. */
  readonly user: UpstreamIdentity;
  /** The id of the client. */
  readonly clientId: string;
  /** The scopes that the client asks for. */
  readonly scopes: readonly string[];
};

/**
 * Decides about a login: true grants all scopes that the client asks for, an array grants those among them, and false refuses the
 * login.
 */
export type Admit = (
  login: AdmittedLogin,
) => boolean | readonly string[] | Promise<boolean | readonly string[]>;

/** The public addresses of the proxy. */
export interface Addresses {
  readonly issuer: string;
  /** The URL of the MCP server, for which all tokens are. */
  readonly resource: string;
  /** The path before the name of each endpoint: '' or '/path'. */
  readonly base: string;
  readonly origin: string;
}

/** The parts that the endpoints share. */
export interface ProxyParts {
  readonly addresses: Addresses;
  /** The name of the server, for people. */
  readonly serverName: string;
  readonly scopes: ReadonlyMap<string, string>;
  readonly defaultScopes: readonly string[];
  readonly admit: Admit;
  readonly cookies: Cookies;
  readonly sealer: Sealer;
  readonly records: Records;
  readonly grants: Grants;
  readonly accessTokens: AccessTokens;
  readonly clients: ClientDirectory;
  readonly registrations: Registrations | undefined;
  readonly upstream: Upstream;
  readonly keeper: UpstreamTokenKeeper;
  readonly clientKeys: ClientKeys;
  readonly metadata: JsonObject;
  readonly log: (level: 'info' | 'warning' | 'error', message: string, error?: unknown) => void;
}

/** The public URL of an endpoint. */
export function endpointUrl({ origin, base }: Addresses, name: string): string {
  return `${origin}${base}/${name}`;
}
