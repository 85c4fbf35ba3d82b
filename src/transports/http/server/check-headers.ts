import type { RequestMessage } from '../../../jsonrpc/message.js';
import { decodeHeaderValue } from '../../../protocol/encoding/param-headers.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import { declaredVersion } from '../../../protocol/meta.js';
import { nameParam } from '../../../protocol/tables/methods.js';
import type { Incoming } from './incoming.js';

/**
 * Spec 2026-07-28, Streamable HTTP, Server Validation: something in front of the server may have decided by the headers, so
 * they must say what the body says. `Mcp-Param-*` is checked where the tool is known.
 */
export function checkHeaders(message: RequestMessage, incoming: Pick<Incoming, 'header'>): void {
  const version = declaredVersion(message.params);
  if (version === undefined) return;
  expectHeader('MCP-Protocol-Version', incoming.header('mcp-protocol-version'), version);
  expectHeader('Mcp-Method', incoming.header('mcp-method'), message.method);
  const param = nameParam(message.method);
  const name = param === undefined ? undefined : message.params?.[param];
  if (typeof name !== 'string') return;
  const sent = incoming.header('mcp-name');
  // Always decoded: a raw value that only looks encoded would mean another name to whoever decodes it on the way.
  expectHeader('Mcp-Name', sent === undefined ? undefined : (decodeHeaderValue(sent) ?? malformed), name);
}

const malformed = '(malformed)';

function expectHeader(name: string, sent: string | undefined, expected: unknown): void {
  if (sent === expected) return;
  throw new McpError(
    'header_mismatch',
    sent === undefined
      ? `Header mismatch: the ${name} header is missing`
      : `Header mismatch: ${name} header value '${shorten(sent, 128)}' does not match body value '${shorten(expected, 128)}'`,
  );
}
