import type { CheckedUrl } from './check-url.js';

// The seam between the rules of the hardened fetch and a runtime's HTTP client.

/** One request of a hardened fetch: each redirect is a request of its own. */
export interface HopRequest extends CheckedUrl {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** Ends the request, the lookup of the name included. */
  readonly signal: AbortSignal;
}

/** The head of a reply. The body is on the way. */
export interface HopReply {
  readonly status: number;
  readonly headers: Headers;
  /** The body. Leaving the loop closes the connection. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Closes the connection. */
  close(): void;
}

/**
 * Sends one request on a connection of its own and does not follow redirects. An implementation that resolves names checks every
 * address with `checkAddresses` and dials only those. Rejects with a `SafeFetchError`, or with the reason of the signal.
 */
export type SendHop = (request: HopRequest) => Promise<HopReply>;
