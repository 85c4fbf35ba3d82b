// Whether a server still answers the callers of an earlier definition of a tool.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { contractDigest } from '../../protocol/contract-digest.js';
import { VERSIONS } from '../../protocol/tables/meta-keys.js';

/** The version of a tool that has the schemas of an earlier definition, so that it answers the callers of that one; undefined if there is none. */
export function versionKept(was: JsonObject, is: JsonObject): string | undefined {
  const versions = isObject(is['_meta']) ? is['_meta'][VERSIONS] : undefined;
  if (!isObject(versions)) return undefined;
  const before = contractDigest(was);
  return Object.keys(versions).find((version) => versions[version] === before);
}
