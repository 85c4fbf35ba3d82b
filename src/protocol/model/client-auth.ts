// The seam between a client's transport and its authorization: headers before each request, and a say after a refusal.

/** Authorizes the requests of a client: `oauth` and the other functions of `fullmcp/oauth` make one. One may serve several servers. */
export interface ClientAuth {
  /**
   * Returns the headers for a request. Called before each, also before each retry. Return the same object for as long as the
   * headers stay the same: it is cached by identity. An `McpError` that it throws is the error of the call.
   */
  headersFor(request: AuthorizedRequest): AuthHeaders | Promise<AuthHeaders>;
  /**
   * Called with each reply 401 and 403. `retry` sends the request once more, with new headers. `fail` reports the reply as the
   * call's error. An `McpError` that it throws is the error of the call.
   */
  onChallenge(reply: ChallengeReply, request: ChallengedRequest): Promise<'retry' | 'fail'>;
  /** Called with every other reply: a server may send a new nonce in any of them. Default: nothing. */
  onReply?(reply: ChallengeReply, request: ChallengedRequest): void;
}

/** Headers by name. */
export type AuthHeaders = Readonly<Record<string, string>>;

/** A request that is about to be sent. */
export interface AuthorizedRequest {
  /** The URL of the MCP server, as the program gave it, without credentials and without a fragment. */
  readonly server: string;
  /** The method of HTTP. */
  readonly method: string;
  /** The URL of the request. Over HTTP+SSE, it may differ from that of the server. */
  readonly url: string;
  /** Aborts when nobody waits for the request any more. */
  readonly signal: AbortSignal;
  /** Whether the user may be asked to log in. False for requests that the program did not make, such as the stream of a session. */
  readonly mayAsk: boolean;
  /** Runs `work` while the timeouts of calls are paused, because it waits for the user. */
  readonly pauseTimeouts: <T>(work: () => Promise<T>) => Promise<T>;
}

/** A request that was sent and answered. */
export interface ChallengedRequest extends AuthorizedRequest {
  /** The headers that `headersFor` returned for the request. */
  readonly headers: AuthHeaders;
}

/** The head of a reply. */
export interface ChallengeReply {
  /** The status of HTTP. */
  readonly status: number;
  /** Reads a header by its lower-case name. Several of one name are joined with commas. */
  readonly header: (name: string) => string | undefined;
}
