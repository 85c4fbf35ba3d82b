import type { RequestMessage } from '../../../jsonrpc/message.js';
import { decodeHeaderValue } from '../../../protocol/encoding/param-headers.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import { declaredVersion } from '../../../protocol/meta.js';
import { nameParam } from '../../../protocol/tables/methods.js';
import type { Incoming } from './incoming.js';

/**
 * Checks that the headers agree with the body, because a proxy may have made decisions by the headers. Spec 2026-07-28,
 * Streamable HTTP, Server Validation. `Mcp-Param-*` is checked later, when the tool is known.
 */
export function checkHeaders(message: RequestMessage, incoming: Pick<Incoming, 'header'>): void {
  const version = declaredVersion(message.params);
  if (version === undefined) return;
  expectHeader('MCP-Protocol-Version', incoming.header('mcp-protocol-version'), version);
  expectHeader('Mcp-Method', incoming.header('mcp-method'), message.method);
  const param = nameParam(message.method);
  const name = param === undefined ? undefined : message.params?.[param];
  if (typeof name !== 'string') return;
  const value = incoming.header('mcp-name');
  // Always decoded: a raw value that only looks encoded would be another name to a proxy that decodes it.
  expectHeader('Mcp-Name', value === undefined ? undefined : (decodeHeaderValue(value) ?? MALFORMED), name);
}

const MALFORMED = '(malformed)';

function expectHeader(name: string, value: string | undefined, expected: unknown): void {
  if (value === expected) return;
  throw new McpError(
    'header_mismatch',
    value === undefined
      ? `Header mismatch: the ${name} header is missing`
      : `Header mismatch: ${name} header value '${shorten(value, 128)}' does not match body value '${shorten(expected, 128)}'`,
  );
}
