// Whether a server still answers the callers of an earlier definition of a tool.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { contractDigest } from '../../protocol/contract-digest.js';
import { VERSIONS } from '../../protocol/tables/meta-keys.js';

type Digests = Readonly<Record<string, unknown>>;

/** The digests of the versions of a tool that answer calls, by version. */
function versionsOf({ _meta: meta }: JsonObject): Digests | undefined {
  const versions = isObject(meta) ? meta[VERSIONS] : undefined;
  return isObject(versions) ? versions : undefined;
}

/** The version of a tool that has the schemas of an earlier definition, so that it answers the callers of that one; undefined if there is none. */
export function versionKept(was: JsonObject, is: JsonObject): string | undefined {
  const versions = versionsOf(is);
  if (versions === undefined) return undefined;
  const before = contractDigest(was);
  return Object.keys(versions).find((version) => versions[version] === before);
}

/** The versions that answered callers of a tool before, and do not any more, because neither they nor the same schemas are kept. */
export function versionsLost(was: JsonObject, is: JsonObject): readonly string[] {
  const now = Object.values(versionsOf(is) ?? { current: contractDigest(is) });
  return Object.entries(versionsOf(was) ?? {}).flatMap(([version, digest]) =>
    now.includes(digest) ? [] : [version],
  );
}
