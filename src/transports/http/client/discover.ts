import { isObject } from '../../../jsonrpc/message.js';
import type { Dispatch } from '../../../protocol/call.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
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
  const result = await dispatch(call).catch((error: unknown) => {
    throw McpError.is(error) && saysNotModern(error) ? notModern(displayUrl, error.data, error) : error;
  });
  const { supportedVersions, capabilities } = result;
  if (!isObject(capabilities) || mutual(modernRevisions, supportedVersions) === undefined) {
    throw notModern(displayUrl, { supported: supportedVersions });
  }
  return result as unknown as Discovered;
}

function saysNotModern({ code, status, data, number }: McpError): boolean {
  switch (code) {
    // A failure of authentication or of the network does not show the era.
    case 'unauthorized':
    case 'forbidden':
    case 'overloaded':
    case 'connect_failed':
    case 'timeout':
    case 'cancelled':
    // Only modern servers know these.
    case 'header_mismatch':
    case 'missing_capability':
      return false;
    case 'connection_closed':
      return isObject(data) && data['incomplete'] === true;
    case 'bad_response':
      return status < 300 || (status >= 400 && status < 500);
    default:
      return number !== undefined;
  }
}

function notModern(displayUrl: string, data: unknown, cause?: McpError): McpError {
  const supported = isObject(data) && Array.isArray(data['supported']) ? data['supported'] : [];
  const list = supported.slice(0, 20).map((version) => shorten(version, 32));
  const speaks = list.length > 0 ? ` It speaks ${list.join(', ')}.` : '';
  return new McpError(
    'unsupported_version',
    `${displayUrl} does not speak protocol version ${modernRevisions.join(' or ')}.${speaks}`,
    { cause, data: { supported: list, requested: modernRevisions[0] } },
  );
}
