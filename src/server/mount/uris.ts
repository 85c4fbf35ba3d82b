import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { ContentBlock, ResourceContents } from '../../protocol/model/content.js';
import { TOOL_PREFIX } from '../../protocol/tables/meta-keys.js';

// The URIs of mounted resources. The prefix becomes a part of the scheme (`weather+file:///log`), because that works for every URI and every
// template, and no client mistakes the URI for an address that it could fetch itself.

// Hosts know an app by its scheme, so the prefix of an app is in front of its name: `ui://weather+map`.
const APP = 'ui://';

/** Renames the URIs of a mounted server, and back. */
export interface UriRule {
  /** The URI that clients use for a URI of the mounted server. */
  readonly outer: (uri: string) => string;
  /** The URI that the mounted server uses for a URI of clients. */
  readonly inner: (uri: string) => string;
}

const asTheyAre: UriRule = { outer: (uri) => uri, inner: (uri) => uri };

/** The rule for a prefix. Without a prefix, URIs stay as they are. */
export function uriRule(prefix: string): UriRule {
  if (prefix === '') return asTheyAre;
  const added = `${schemeOf(prefix)}+`;
  const app = `${APP}${added}`;
  return {
    outer: (uri) => (uri.startsWith(APP) ? `${app}${uri.slice(APP.length)}` : `${added}${uri}`),
    inner(uri) {
      if (uri.startsWith(app)) return `${APP}${uri.slice(app.length)}`;
      return uri.startsWith(added) ? uri.slice(added.length) : uri;
    },
  };
}

/** The prefix as a part of a scheme, which has letters in lower case, digits, "." and "-". RFC 3986, section 3.1. */
export function schemeOf(prefix: string): string {
  return prefix.toLowerCase().replaceAll('_', '-');
}

/**
 * The `_meta` of a mounted tool that has an app: the URI of the app as clients know it, in both forms, and `added`, which the mount puts in
 * front of the tools that the page calls.
 */
export function mountMeta(meta: JsonObject, { outer }: UriRule, added: string): JsonObject {
  const { ui } = meta;
  if (!isObject(ui)) return meta;
  const rename = (from: JsonObject, key: string): JsonObject => {
    const uri = from[key];
    return typeof uri === 'string' && uri.startsWith(APP) ? { ...from, [key]: outer(uri) } : from;
  };
  const before = meta[TOOL_PREFIX] ?? '';
  return {
    ...rename(meta, 'ui/resourceUri'),
    ui: rename(ui, 'resourceUri'),
    ...(added !== '' && { [TOOL_PREFIX]: `${added}${before}` }),
  };
}

/** Renames the URIs in content, except for those that are not resources of the mounted server. */
export interface UriRewriter {
  readonly block: (block: ContentBlock) => ContentBlock;
  readonly contents: (contents: ResourceContents) => ResourceContents;
}

/** Makes a rewriter. `owns` says whether the mounted server has a resource. */
export function uriRewriter({ outer }: UriRule, owns: (uri: string) => boolean): UriRewriter {
  const rename = <T extends { readonly uri: string }>(item: T): T =>
    typeof item.uri === 'string' && owns(item.uri) ? { ...item, uri: outer(item.uri) } : item;
  return {
    block(block) {
      if (block.type === 'resource_link') return rename(block);
      if (block.type !== 'resource' || !isObject(block.resource)) return block;
      const resource = rename(block.resource);
      return resource === block.resource ? block : { ...block, resource };
    },
    contents: rename,
  };
}
