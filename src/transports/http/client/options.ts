/** Headers, in whatever form. The DOM has a name for it, but not every runtime's types have the DOM. */
export type HeaderValues =
  | Headers
  | Readonly<Record<string, string>>
  | readonly (readonly [string, string])[];

export interface HttpLinkOptions {
  readonly fetch?: typeof fetch;
  /** Sent with every request. Those that the protocol sets itself are not replaced. */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>);
  /** A bearer token, or a function that gives one. It is asked before every request. */
  readonly auth?: string | (() => string | Promise<string>);
  /** The largest message that is taken. 32 MB unless told. */
  readonly maxMessageBytes?: number;
}
