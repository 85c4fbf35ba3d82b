import type { Auth } from '../protocol/call.js';
import type { SharedState } from './cluster.js';

// The seam between the HTTP edge of a server and the check of credentials.

/** The request whose caller is to be identified. Its body is not read yet. */
export interface AuthRequest {
  /** The method of HTTP. */
  readonly method: string;
  /** The URL as clients see it, without the query. */
  readonly url: string;
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** The IP address at the other end of the connection, a proxy's even if `trustProxy` names it; undefined if the runtime does not know it. */
  readonly remoteAddress: string | undefined;
}

/** The facts that clients need before they can log in. */
export interface ResourceFacts {
  /** The issuers of the authorization servers whose tokens are accepted. */
  readonly authorizationServers: readonly string[];
  /** The scopes that clients may request. `offline_access` is left out. */
  readonly scopes?: readonly string[] | undefined;
  /** The scopes that every request needs; a 401 names them. Default: a 401 names none, and clients request all of `scopes`. */
  readonly requiredScopes?: readonly string[] | undefined;
  /** Whether tokens that are bound to a key are accepted, or are the only ones. Default: neither. */
  readonly dpop?: 'supported' | 'required' | undefined;
  /** The algorithms for the proofs of such tokens. Default: ES256. */
  readonly dpopAlgorithms?: readonly string[] | undefined;
}

/** The parts of a server that a provider may use. */
export interface AuthContext {
  /** The state that the processes of the server share. */
  readonly shared: SharedState;
  /** The secrets of the server: the first one encrypts and signs, all are accepted. Undefined if the server has none. */
  readonly secrets: readonly string[] | undefined;
  /** Tells the operator. */
  readonly log: (level: 'info' | 'warning' | 'error', message: string, error?: unknown) => void;
}

/**
 * Identifies the callers of a server: `jwt`, `apiKey` and the other functions of `fullmcp/auth` make one, and so does a program for
 * credentials of its own.
 */
export interface AuthProvider {
  /**
   * The caller; undefined if the request has no credentials of this kind. An `McpError` rejects the request: `unauthorized` for
   * credentials that are not valid, `overloaded` if they cannot be checked now.
   */
  check(request: AuthRequest): Auth | undefined | Promise<Auth | undefined>;
  /**
   * Whether the credentials of a caller are still valid, although they have not expired. It is asked about once a minute while a
   * stream or a WebSocket of the caller is open, which ends if it returns false; if it throws, they stay open. `request` is the one
   * that has opened them. Default: credentials are valid until they expire.
   */
  isStillValid?(request: AuthRequest, auth: Auth): boolean | Promise<boolean>;
  /** Whether a request without credentials is served for an anonymous caller. Default: it gets 401. */
  readonly optional?: boolean | undefined;
  /** The authentication schemes that a 401 names. Default: `Bearer`. */
  readonly schemes?: readonly string[] | undefined;
  /** The facts for the protected resource metadata; undefined if clients cannot log in anywhere. */
  readonly resource?: ResourceFacts | undefined;
  /**
   * The URL of the server as clients see it, if the provider has to know it. Transports use it as their `publicUrl` if they have
   * none. Default: the provider does not know it.
   */
  readonly publicUrl?: string | undefined;
  /** Replies to requests for pages of its own; undefined if the request is not for one. Called with each request that no other route takes. */
  readonly handle?: ((request: Request) => Promise<Response> | undefined) | undefined;
  /** Called before the first request. A provider that several servers use is started once for each. Default: nothing. */
  start?(context: AuthContext): void | Promise<void>;
  /** Called when a server is closed that has started the provider, with the same context. Default: nothing. */
  close?(context?: AuthContext): void | Promise<void>;
}
