import type { Authorize } from './grants/authorization-code.js';

// The seam to the user's browser: how the user gets to the authorization server, and how the code comes back.

/** A way to the user's browser. */
export interface UserAgent {
  /** Gets ready for a redirect. `preferred` are redirect URIs of an earlier registration, which should be used again. */
  readonly start: (options: { readonly preferred: readonly string[] }) => Promise<WaitingUserAgent>;
}

/** A user agent that is ready for one login. */
export interface WaitingUserAgent {
  readonly redirectUri: string;
  readonly authorize: Authorize;
  readonly close: () => Promise<void>;
}

/** The program's own way: it gets the URL, and returns the URL that the browser was sent to. */
export type HeadlessAuthorize = (request: {
  /** The URL at which the user logs in. */
  readonly url: string;
  /** The `state` that the redirect has to carry. */
  readonly state: string;
  /** Aborts when the login is given up. */
  readonly signal: AbortSignal;
}) => Promise<string | URL>;

/** Hands the URL to the program, and takes the redirected URL from it. */
export function headlessUserAgent(redirectUri: string, authorize: HeadlessAuthorize): UserAgent {
  return {
    async start() {
      return {
        redirectUri,
        authorize: async (request) => ({ url: String(await authorize(request)) }),
        async close() {},
      };
    },
  };
}
