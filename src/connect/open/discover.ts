import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { OpenOptions } from '../../protocol/link.js';
import { withPeer } from '../../protocol/meta.js';
import type { Discovered } from '../../protocol/model/model.js';
import { modernRevisions, mutual } from '../../protocol/tables/features.js';
import { newestRevision, type Revision } from '../../protocol/tables/revisions.js';
import type { Exchange } from '../../transports/client/exchange.js';

/** A modern server, and what both sides speak. */
export interface Found {
  readonly revision: Revision;
  readonly discovered: Discovered;
}

/** Asks a server what it is. Rejects with `unsupported_version` and what the server supports where that has nothing modern. */
export async function discover(
  exchange: Exchange,
  open: OpenOptions,
  revision: Revision = newestRevision,
): Promise<Found> {
  const ask = async (asked: Revision): Promise<Found> => {
    const params = withPeer({}, { ...open.client, revision: asked, logLevel: undefined });
    return found(await exchange.request({ method: 'server/discover', params, signal: open.signal }));
  };
  try {
    return await ask(revision);
  } catch (error) {
    if (!McpError.is(error) || error.code !== 'unsupported_version' || !isObject(error.data)) throw error;
    const other = mutual(modernRevisions, error.data['supported']);
    if (other === undefined || other === revision) throw error;
    return ask(other);
  }
}

function found(result: object): Found {
  const discovered = result as Discovered;
  const { supportedVersions: supported } = discovered;
  const revision = mutual(modernRevisions, supported);
  if (revision !== undefined && isObject(discovered.capabilities)) return { revision, discovered };
  throw Array.isArray(supported)
    ? new McpError('unsupported_version', 'The server supports no version that this client does', {
        data: { supported, requested: newestRevision },
      })
    : new McpError('bad_response', 'The server answered server/discover with something else');
}
