// The server as its results describe it.

import type { JsonObject } from '../../jsonrpc/message.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import type { Implementation } from '../../protocol/model/model.js';

/**
 * The `_meta` of every result. It has only the name and the version of the server, because icons may be large. A name or version that is
 * not a string is reported later, with the other mistakes.
 */
export function resultMeta({
  name,
  version,
}: {
  readonly name: unknown;
  readonly version: unknown;
}): JsonObject {
  const info = {
    name: typeof name === 'string' ? name : '',
    version: typeof version === 'string' ? version : '',
  };
  return { [SERVER_INFO]: Object.freeze(info) };
}

/** The part of a server's options that describes the server. */
export function serverInfo(options: Implementation): Implementation {
  const { name, version, title, description, websiteUrl, icons } = options;
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons && { icons }),
  };
}
