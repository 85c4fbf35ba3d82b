// Tells a client that an older version of a tool has answered its call. Loaded with the first such call.

import { isObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { STALE_TAGS } from '../../protocol/definition-tags.js';
import { modernRevisions } from '../../protocol/tables/features.js';
import { VERSION } from '../../protocol/tables/meta-keys.js';
import type { Registry } from '../catalog/registry.js';

/** The facts about the version that answers. */
interface OlderVersion {
  readonly registry: Registry;
  readonly version: string;
  readonly servesDrafts: boolean;
}

/**
 * Runs the call, and tells the client as far as its revision allows: each of them which version has answered, clients of drafts that their
 * list is stale, and those of sessions that it has changed, before the result.
 */
export async function tellOfVersion(
  call: Call,
  { registry, version, servesDrafts }: OlderVersion,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const isModern = modernRevisions.some((revision) => revision === call.peer.revision);
  if (!isModern && registry.announces('tools')) call.notify('notifications/tools/list_changed');
  const outcome = await run();
  const { _meta } = outcome;
  const stale = isModern && servesDrafts ? { [STALE_TAGS]: ['tools/list'] } : undefined;
  return { ...outcome, _meta: { ...(isObject(_meta) && _meta), [VERSION]: version, ...stale } };
}
