// The steps of an authorization, for user interfaces and for error messages.

/** A step of an authorization that can fail. */
export type OAuthHop =
  /** Reading the metadata of the MCP server. */
  | 'resource metadata'
  /** Reading the metadata of the authorization server. */
  | 'authorization server metadata'
  /** Registering the client at the authorization server. */
  | 'registration'
  /** The user's login and consent in the browser. */
  | 'authorization'
  /** Asking for a code that the user enters on another device. */
  | 'device authorization'
  /** Asking for tokens. */
  | 'token'
  /** Asking for new tokens with the refresh token. */
  | 'refresh'
  /** Exchanging an ID token of the identity provider. */
  | 'token exchange'
  /** Telling the authorization server that tokens must not be accepted any more. */
  | 'revocation';

/** Something that happened during an authorization. No event has a secret in it, except the URL of `authorize`. */
export type OAuthEvent = {
  /** The URL of the MCP server. */
  readonly server: string;
} & (
  | {
      /** The MCP server refused a request and asks for a token, or for more scopes. */
      readonly type: 'challenge';
      /** The status of HTTP: 401 or 403. */
      readonly status: number;
      /** The scopes that the server asks for. */
      readonly scopes: readonly string[];
    }
  | {
      /** A request was answered. */
      readonly type: 'reply';
      /** The step that the request belongs to. */
      readonly hop: OAuthHop;
      /** The URL, without its query. */
      readonly url: string;
      /** The status of HTTP. */
      readonly status: number;
    }
  | {
      /** The authorization server was found. */
      readonly type: 'authorization server';
      /** Its issuer. */
      readonly issuer: string;
    }
  | {
      /** The client has an identity at the authorization server. */
      readonly type: 'client';
      /** The issuer of the authorization server. */
      readonly issuer: string;
      /** The client's id there. */
      readonly clientId: string;
      /** The way that the identity was found. */
      readonly how: 'pre-registered' | 'metadata document' | 'registered' | 'stored' | 'asked';
    }
  | {
      /** The user has to log in at this URL. The browser is opened by itself, unless `open` or `authorize` says otherwise. */
      readonly type: 'authorize';
      /** The URL for the browser. */
      readonly url: string;
      /** The scopes that are asked for. */
      readonly scopes: readonly string[];
    }
  | {
      /** The user has to enter a code on another device. */
      readonly type: 'device code';
      /** The code. */
      readonly userCode: string;
      /** The address at which the user enters the code. */
      readonly verificationUri: string;
      /** The same address with the code in it, for a QR code. */
      readonly verificationUriComplete: string | undefined;
      /** The end of the code, in milliseconds since 1970. */
      readonly expiresAt: number;
    }
  | {
      /** There are tokens: from the user's login, from a refresh, or from the store, where another process wrote them. */
      readonly type: 'tokens';
      /** Where they come from. */
      readonly how: 'login' | 'refresh' | 'store';
      /** The issuer of the authorization server. */
      readonly issuer: string;
      /** The scopes that were granted. */
      readonly scopes: readonly string[];
      /** The end of the access token, in milliseconds since 1970; undefined if the server does not say. */
      readonly expiresAt: number | undefined;
    }
  | {
      /** The tokens were deleted, because the authorization server no longer accepts them, or by `logout`. */
      readonly type: 'tokens deleted';
      /** The error of the authorization server, such as `invalid_grant`, or `logout`. */
      readonly reason: string;
    }
  | {
      /** Tokens or a registration could not be saved: they last only as long as the program, and the next run needs a login. */
      readonly type: 'not saved';
      /** The message of the store's error. */
      readonly message: string;
    }
  | {
      /** A step failed. */
      readonly type: 'failed';
      /** The step. */
      readonly hop: OAuthHop;
      /** The message of the error. */
      readonly message: string;
    }
);
