import { isObject } from '../../../jsonrpc/message.js';
import type { Dispatch } from '../../../protocol/call.js';
import type { OpenOptions } from '../../../protocol/link.js';
import type { Discovered } from '../../../protocol/model/model.js';
import { modernRevisions, mutual } from '../../../protocol/tables/features.js';
import type { Revision } from '../../../protocol/tables/revisions.js';

interface DiscoverOptions extends OpenOptions {
  readonly revision: Revision;
  readonly displayUrl: string;
}

/**
 * Sends `server/discover`. Rejects with `unsupported_version` if the response is not that of a modern server. Spec 2026-07-28,
 * Streamable HTTP, Backward Compatibility.
 */
export async function discover(dispatch: Dispatch, options: DiscoverOptions): Promise<Discovered> {
  const { signal, client, revision, displayUrl } = options;
  const peer = { ...client, revision, logLevel: undefined };
  // Some servers take a request with the id 0 for a notification.
  const call = { id: 1, method: 'server/discover', params: {}, peer, signal, notify: () => {} };
  const result = await dispatch(call).catch(async (error: unknown) => {
    throw (await import('./not-modern.js')).whyNotModern(displayUrl, error) ?? error;
  });
  const { supportedVersions, capabilities } = result;
  if (!isObject(capabilities) || mutual(modernRevisions, supportedVersions) === undefined) {
    throw (await import('./not-modern.js')).notModern(displayUrl, { supported: supportedVersions });
  }
  return result as unknown as Discovered;
}
