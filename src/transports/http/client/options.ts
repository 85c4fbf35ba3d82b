import type { ClientAuth } from '../../../protocol/model/client-auth.js';

/** HTTP headers: a `Headers` object, an object, or an array of pairs. */
export type HeaderValues =
  | Headers
  | Readonly<Record<string, string>>
  | readonly (readonly [string, string])[];

/** A certificate or key: in PEM format, or the path of a file in that format. A string without `-----BEGIN` is a path. */
type Pem = string | Uint8Array;

/** Resolves a host name, as `lookup` of `node:dns` does. */
type Lookup = (
  hostname: string,
  options: {
    /** The version of IP: 4 or 6, or 0 for both. */
    readonly family?: number | 'IPv4' | 'IPv6';
    /** Flags of `node:dns`, such as `ADDRCONFIG`. */
    readonly hints?: number;
    /** Whether to give all addresses, as an array. */
    readonly all?: boolean;
  },
  callback: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/** One address of a host. */
type LookupAddress = {
  /** The IP address. */
  address: string;
  /** The version of IP: 4 or 6. */
  family: number;
};

/** The options for opening connections on Node. On other runtimes, or together with `fetch`, they are an error. */
export interface NodeHttpOptions {
  /**
   * The certificate authorities to trust, for a server with a certificate of your own. They replace the default: those that
   * Node trusts.
   */
  readonly ca?: Pem | readonly Pem[];
  /** The client's own certificate, for servers that ask for one. Default: none. */
  readonly cert?: Pem | readonly Pem[];
  /** The private key of `cert`. Default: none. */
  readonly key?: Pem;
  /** The proxy to use, or `false` for none. Default: the environment variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly proxy?: string | URL | false;
  /**
   * Resolves host names; the client connects to the address that it returns. Not called for a host that is an IP address.
   * Default: `lookup` of `node:dns`.
   */
  readonly lookup?: Lookup;
}

/** The options of a connection over HTTP. All except `fetch` apply to WebSockets too. */
export interface HttpLinkOptions extends NodeHttpOptions {
  /** Sends the requests. Ignored by WebSockets. Default: Node's own HTTP client on Node, and `globalThis.fetch` elsewhere. */
  readonly fetch?: typeof fetch;
  /**
   * Headers for every request, or a function that returns them, called before each. Headers that the protocol sets itself are
   * not replaced. Default: none.
   */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>);
  /**
   * A bearer token, a function that returns one, called before every request, or an object that logs in and refreshes tokens:
   * `oauth()` of `fullmcp/oauth` makes one. Default: none.
   */
  readonly auth?: string | (() => string | Promise<string>) | ClientAuth;
  /**
   * The largest message to accept from the server, in bytes. A larger one fails its call with `bad_response`, or is reported as
   * a `problem` if it is not known whose it is. Default: 32 MB over HTTP, 16 MB otherwise.
   */
  readonly maxMessageBytes?: number;
}

const nodeOptionNames = ['ca', 'cert', 'key', 'proxy', 'lookup'] as const;

/** The names of the options in use that only Node supports, for messages. */
export function listNodeOptions(options: NodeHttpOptions): string[] {
  return nodeOptionNames.filter((name) => options[name] !== undefined).map((name) => `\`${name}\``);
}
