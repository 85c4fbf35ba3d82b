// The fields that all listed definitions share.

import type { JsonObject } from '../../jsonrpc/message.js';
import { metaKeyProblem } from '../../protocol/meta.js';
import type { Icon } from '../../protocol/model/content.js';
import { TAGS } from '../../protocol/tables/meta-keys.js';
import type { Described } from '../define/definition.js';

/** The fields that every listed definition may have. */
export interface ListedDescription {
  title?: string;
  description?: string;
  icons?: readonly Icon[];
  _meta?: JsonObject;
}

/** Converts the description of a definition to its listed form. Throws an error that describes the mistake in it. */
export function listDescription({ title, description, icons, tags, meta }: Described): ListedDescription {
  for (const key of Object.keys(meta ?? {})) {
    const problem = metaKeyProblem(key);
    if (problem !== undefined) throw new TypeError(`"meta" has the key "${key}": ${problem}`);
  }
  for (const { src } of icons ?? []) {
    if (!/^(https?:|data:)/i.test(src))
      throw new TypeError(`an icon's "src" must be an https: or data: URI, not "${src}"`);
  }
  const _meta = tags === undefined || tags.length === 0 ? meta : { ...meta, [TAGS]: tags };
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(icons && { icons }),
    ...(_meta && { _meta }),
  };
}
