import { checkPublicUrl } from '../guard.js';
import type { Incoming } from '../incoming.js';

// The URLs of a protected endpoint, as clients see them.

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

export interface ResourceUrlsOptions {
  /** The path of the endpoint. Default: a router has mounted it. */
  readonly path?: string | undefined;
  /** The URL of the endpoint as clients see it. Default: the URLs of the requests. */
  readonly publicUrl?: string | undefined;
}

/** The URLs of an endpoint, and of the metadata about it (RFC 9728). */
export class ResourceUrls {
  readonly #options: ResourceUrlsOptions;
  readonly #public: URL | undefined;

  constructor(options: ResourceUrlsOptions) {
    this.#options = options;
    this.#public =
      options.publicUrl === undefined ? undefined : checkPublicUrl(options.publicUrl, '"publicUrl"');
  }

  /** The path of the endpoint as clients see it; undefined if it is not known. */
  get publicPath(): string | undefined {
    return this.#public?.pathname;
  }

  /** The origin that clients see. The host of the request has been checked. */
  originOf(incoming: Incoming): string {
    if (this.#public !== undefined) return this.#public.origin;
    return `${incoming.secure ? 'https' : 'http'}://${incoming.header('host') ?? 'localhost'}`;
  }

  /** The URL of a request as clients see it, without the query. */
  urlOf(incoming: Incoming): string {
    return printUrl(this.originOf(incoming), this.#publicPathOf(incoming.path)) ?? '';
  }

  /**
   * The URL of the metadata about the endpoint that a request is for. A router that has mounted the handler gives it only the paths
   * below the mount, so the metadata is there.
   */
  metadataUrlOf(incoming: Incoming): string | undefined {
    const path = withoutSlash(this.#publicPathOf(incoming.path));
    const isMounted = this.#options.path === undefined;
    return printUrl(this.originOf(incoming), isMounted ? `${path}${WELL_KNOWN}` : `${WELL_KNOWN}${path}`);
  }

  /** The resource whose metadata a request is for; undefined if the request is not for metadata of this endpoint. */
  resourceAt(incoming: Incoming): string | undefined {
    const path = this.#resourcePath(incoming.path);
    if (path === undefined) return undefined;
    const { publicUrl } = this.#options;
    // The text of the option: clients compare it with the URL that they were given.
    if (publicUrl !== undefined && path === this.#public?.pathname) return publicUrl;
    return printUrl(this.originOf(incoming), withoutSlash(path));
  }

  /** The path of the resource that a path of metadata is about. The well-known part is at its beginning, or at its end. */
  #resourcePath(path: string): string | undefined {
    const at = path.indexOf(WELL_KNOWN);
    if (at === -1) return undefined;
    const [mount, rest] = [path.slice(0, at), path.slice(at + WELL_KNOWN.length)];
    if (mount !== '' && rest !== '') return undefined;
    if (rest !== '' && !rest.startsWith('/')) return undefined;
    const resource = mount === '' ? rest || '/' : mount;
    const { path: endpoint } = this.#options;
    const own = this.#public?.pathname ?? endpoint;
    if (own === undefined) return resource;
    // A framework may have removed the mount path, and a proxy in front may have removed or added one.
    const local = endpoint ?? '/';
    if (resource === own || resource === local) return own;
    if (resource === `${withoutSlash(own)}/sse` && endpoint === undefined) return resource;
    const isStream = resource === beside(own, 'sse') || resource === beside(local, 'sse');
    return isStream ? beside(own, 'sse') : undefined;
  }

  // Beside the endpoint, only the last part of a path differs.
  #publicPathOf(path: string): string {
    const { path: endpoint } = this.#options;
    const known = this.#public?.pathname;
    // A router may have mounted the stream below the endpoint.
    if (known === undefined || (endpoint === undefined && path.startsWith(`${known}/`))) return path;
    const last = path.slice(path.lastIndexOf('/') + 1);
    const isBeside = path !== endpoint && (last === 'sse' || last === 'messages');
    return isBeside ? beside(known, last) : known;
  }
}

function beside(path: string, last: string): string {
  return `${path.slice(0, path.lastIndexOf('/'))}/${last}`;
}

function withoutSlash(path: string): string {
  return path === '/' ? '' : path;
}

// A path of a request may have characters that URLs do not have, such as quotes.
function printUrl(origin: string, path: string): string | undefined {
  // The target of a request need not be a path: anything else would become a part of the host.
  if (path !== '' && !path.startsWith('/')) return undefined;
  const url = `${origin}${path}`;
  // A server that accepts any host also gets hosts that are none.
  if (!URL.canParse(url)) return undefined;
  const { href } = new URL(url);
  return path === '' ? href.replace(/\/$/, '') : href;
}
