import { isObject } from '../../../jsonrpc/message.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import { modernRevisions } from '../../../protocol/tables/features.js';

// Which answers to `server/discover` show that a server is not modern. Loaded only when one fails, for the sake of browsers.

/** The error for a server that is not modern, if its answer to `server/discover` shows that. */
export function whyNotModern(displayUrl: string, error: unknown): McpError | undefined {
  return McpError.is(error) && saysNotModern(error) ? notModern(displayUrl, error.data, error) : undefined;
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

/** The error for a server that speaks none of the modern revisions. */
export function notModern(displayUrl: string, data: unknown, cause?: McpError): McpError {
  const supported = isObject(data) && Array.isArray(data['supported']) ? data['supported'] : [];
  const list = supported.slice(0, 20).map((version) => shorten(version, 32));
  const speaks = list.length > 0 ? ` It speaks ${list.join(', ')}.` : '';
  return new McpError(
    'unsupported_version',
    `${displayUrl} does not speak protocol version ${modernRevisions.join(' or ')}.${speaks}`,
    { cause, data: { supported: list, requested: modernRevisions[0] } },
  );
}
