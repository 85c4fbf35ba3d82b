// A call as a curl command, for servers that are reached over HTTP.

import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { encodeHeaderValue } from '../../../src/protocol/encoding/header-value.js';
import { modernRevisions } from '../../../src/protocol/tables/features.js';
import { shellWord } from '../../../src/tooling/clean.js';

/** Undefined if the server is not reached over HTTP. */
export function curl(
  { address, revision = '' }: ConnectionView,
  tool: string,
  args: JsonObject,
): string | undefined {
  if (!address.startsWith('http:') && !address.startsWith('https:')) return undefined;
  const isModern = modernRevisions.some((each) => each === revision);
  return isModern
    ? oneRequest(address, revision, { tool, args })
    : inSession(address, revision, { tool, args });
}

interface Called {
  readonly tool: string;
  readonly args: JsonObject;
}

function oneRequest(url: string, revision: string, { tool, args }: Called): string {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'curl', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: tool, arguments: args, _meta: meta };
  const headers = [
    `MCP-Protocol-Version: ${revision}`,
    'Mcp-Method: tools/call',
    `Mcp-Name: ${encodeHeaderValue(tool)}`,
  ];
  return post(url, headers, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

/** Before 2026, a call needs a session, whose id is in a header of the first reply. */
function inSession(url: string, revision: string, { tool, args }: Called): string {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'curl', version: '1' } };
  const open = post(url, [], { jsonrpc: '2.0', id: 0, method: 'initialize', params }, '-si');
  const headers = [`MCP-Protocol-Version: ${revision}`];
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } };
  const withSession = (command: string) => command.replace('curl ', 'curl -H "Mcp-Session-Id: $session" ');
  return [
    `session=$(${open} | tr -d '\\r' | awk 'tolower($1) == "mcp-session-id:" { print $2 }')`,
    withSession(post(url, headers, initialized)),
    withSession(post(url, headers, call)),
  ].join('\n');
}

function post(url: string, headers: readonly string[], body: object, flags = '-sS'): string {
  const all = ['Content-Type: application/json', 'Accept: application/json, text/event-stream', ...headers];
  const words = all.map((header) => `-H ${shellWord(header)}`).join(' ');
  return `curl ${flags} ${shellWord(url)} ${words} -d ${shellWord(JSON.stringify(body))}`;
}
