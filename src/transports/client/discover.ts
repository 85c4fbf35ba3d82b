// Asks a modern server over an exchange for its revisions and capabilities.

import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { OpenOptions } from '../../protocol/link.js';
import { withPeer } from '../../protocol/meta.js';
import type { Discovered } from '../../protocol/model/model.js';
import { modernRevisions, mutual } from '../../protocol/tables/features.js';
import { newestRevision, type Revision } from '../../protocol/tables/revisions.js';
import type { Exchange } from './exchange.js';

/** A modern server's description of itself, and the revision that both sides speak. */
export interface DiscoveredServer {
  readonly revision: Revision;
  readonly discovered: Discovered;
}

/**
 * Sends `server/discover`. Rejects with `unsupported_version`, and the versions that the server supports, if none of them is
 * modern.
 */
export async function discover(
  exchange: Exchange,
  open: OpenOptions,
  revision: Revision = newestRevision,
): Promise<DiscoveredServer> {
  const ask = async (version: Revision): Promise<DiscoveredServer> => {
    const params = withPeer({}, { ...open.client, revision: version, logLevel: undefined });
    return readDiscovered(await exchange.request({ method: 'server/discover', params, signal: open.signal }));
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

function readDiscovered(result: object): DiscoveredServer {
  const discovered = result as Discovered;
  const { supportedVersions: supported } = discovered;
  const revision = mutual(modernRevisions, supported);
  if (revision !== undefined && isObject(discovered.capabilities)) return { revision, discovered };
  throw Array.isArray(supported)
    ? new McpError(
        'unsupported_version',
        'The server does not support any protocol version that this client supports.',
        {
          data: { supported, requested: newestRevision },
        },
      )
    : new McpError('bad_response', 'The response to server/discover is not a description of a server.');
}
