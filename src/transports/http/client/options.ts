/** Headers, in whatever form. The DOM has a name for it, but not every runtime's types have the DOM. */
export type HeaderValues =
  | Headers
  | Readonly<Record<string, string>>
  | readonly (readonly [string, string])[];

/** A certificate or key, as PEM. */
export type Pem = string | Uint8Array;

/** Looks a host name up, as `lookup` of `node:dns` does. */
export type Lookup = (
  hostname: string,
  options: { readonly family?: number | 'IPv4' | 'IPv6'; readonly hints?: number; readonly all?: boolean },
  callback: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
) => void;

export interface LookupAddress {
  address: string;
  family: number;
}

/** How connections are opened, on Node. Nothing else can do these, so elsewhere, or beside a `fetch`, they are an error. */
export interface NodeHttpOptions {
  /** The certificate authorities to trust, instead of those that Node trusts. For a server with a certificate of your own. */
  readonly ca?: Pem | readonly Pem[];
  /** The client's own certificate, for servers that ask for one. */
  readonly cert?: Pem | readonly Pem[];
  /** The private key of `cert`. */
  readonly key?: Pem;
  /**
   * The proxy to go through, or `false` for none. Default: what the environment variables `HTTPS_PROXY`, `HTTP_PROXY` and
   * `NO_PROXY` say.
   */
  readonly proxy?: string | URL | false;
  /** Looks host names up; what it gives is what is dialled. It is not asked for an address that is already a number. */
  readonly lookup?: Lookup;
}

export interface HttpLinkOptions extends NodeHttpOptions {
  /** Sends the requests. Default: Node's own HTTP client on Node, and `globalThis.fetch` elsewhere. */
  readonly fetch?: typeof fetch;
  /** Sent with every request. Those that the protocol sets itself are not replaced. */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>);
  /** A bearer token, or a function that gives one. It is asked before every request. */
  readonly auth?: string | (() => string | Promise<string>);
  /** The largest message that is taken. 32 MB unless told. */
  readonly maxMessageBytes?: number;
}

const needNode = ['ca', 'cert', 'key', 'proxy', 'lookup'] as const;

/** The options that were given and that only Node can do, as they are shown in messages. */
export function needingNode(options: NodeHttpOptions): string[] {
  return needNode.filter((name) => options[name] !== undefined).map((name) => `\`${name}\``);
}
