// The seam of the hardened fetch: its type, its limits and its errors.

/**
 * A request to a URL that a peer chose: a metadata document, a key set, a token endpoint. The request goes only to public
 * addresses over https, and the reply is bounded in size and time. It can be passed as `customFetch` to oauth4webapi and jose.
 *
 * The body is read before the promise resolves, so an unread response holds no connection. If a signal of the caller aborts, the
 * promise rejects with the signal's reason; every other failure is a `SafeFetchError`.
 */
export type SafeFetch = (url: string | URL, init?: SafeFetchInit) => Promise<Response>;

/** Bytes that threads do not share. It is not the generic form of `Uint8Array`, which compilers before 5.7 do not know. */
type Bytes = ReturnType<InstanceType<typeof TextEncoder>['encode']>;

/** A request, and the limits of its reply. */
export interface SafeFetchInit {
  /** Default: GET. */
  readonly method?: string | undefined;
  /** All headers of the request, apart from `User-Agent` and those that belong to the connection. There are no ambient ones. */
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  /** The cookies, as the value of the header `Cookie`. They are not sent to another origin. Default: none. */
  readonly cookie?: string | undefined;
  /** The body. Default: none. */
  readonly body?: string | URLSearchParams | Bytes | null | undefined;
  /** Ends the request. */
  readonly signal?: AbortSignal | null | undefined;
  /**
   * The handling of redirects. `follow` (default) follows those of a GET or HEAD and rejects those of other methods. Credentials
   * are not sent to another origin. `manual` returns the redirect, and `error` rejects it.
   */
  readonly redirect?: 'follow' | 'manual' | 'error' | undefined;
  /**
   * Whether the request may go to this computer, even over http. Allow it only if the user chose a server on this computer; a
   * server elsewhere could otherwise reach every local service. Even then, only `localhost`, names under it, and loopback
   * addresses are allowed: another name that resolves to a loopback address is rejected. Default: `refuse`.
   */
  readonly loopback?: 'allow' | 'refuse' | undefined;
  /** The largest body of a reply, in bytes. Default: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** The time for the whole request, redirects and body included. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Default: 3. */
  readonly maxRedirects?: number | undefined;
}

/**
 * The stable names of failed requests:
 *
 * - `bad_url`: the URL cannot be used: not a URL, another scheme than https, or credentials inside it.
 * - `private_address`: the host is, or resolves to, an address that is not public.
 * - `name_not_found`: the host's name does not resolve.
 * - `connect_failed`: the host does not accept the connection, or ends it too early.
 * - `bad_redirect`: a redirect that may not be followed, or too many of them.
 * - `too_large`: the reply exceeds its limit.
 * - `timeout`: the request took too long.
 * - `bad_reply`: the reply is not HTTP that can be read.
 */
export type SafeFetchCode =
  | 'bad_url'
  | 'private_address'
  | 'name_not_found'
  | 'connect_failed'
  | 'bad_redirect'
  | 'too_large'
  | 'timeout'
  | 'bad_reply';

/** A request that was refused or failed. The message names the host and contains no secrets: no query and no user information. */
export class SafeFetchError extends Error {
  /** The stable name of the failure: compare this, not the message. */
  readonly code: SafeFetchCode;
  /** The status of the reply, if only its body was too large. */
  readonly status: number | undefined;

  constructor(
    code: SafeFetchCode,
    message: string,
    options: { readonly cause?: unknown; readonly status?: number } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.name = 'SafeFetchError';
    this.code = code;
    this.status = options.status;
  }
}
