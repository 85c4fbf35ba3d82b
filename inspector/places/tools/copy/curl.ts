// A call as a curl command, for servers that are reached over HTTP.

import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { encodeHeaderValue } from '../../../../src/protocol/encoding/header-value.js';
import { modernRevisions } from '../../../../src/protocol/tables/features.js';
import { shellWord } from '../../../../src/tooling/clean.js';
import { headerWords } from './header-words.js';

/** Undefined if the server is not reached over HTTP. Secrets are not in it: tokens and headers are variables of the shell. */
export function curl(connection: ConnectionView, tool: string, args: JsonObject): string | undefined {
  return request(connection, { method: 'tools/call', name: tool, args });
}

/** The same for a prompt. */
export function promptCurl(connection: ConnectionView, name: string, args: JsonObject): string | undefined {
  return request(connection, { method: 'prompts/get', name, args });
}

function request(connection: ConnectionView, called: Called): string | undefined {
  const { address, revision = '' } = connection;
  if (!address.startsWith('http:') && !address.startsWith('https:')) return undefined;
  const isModern = modernRevisions.some((each) => each === revision);
  const place = { url: address, revision, given: [...bearerOf(connection), ...headerWords(connection)] };
  return isModern ? oneRequest(place, called) : inSession(place, called);
}

interface Place {
  readonly url: string;
  readonly revision: string;
  /** Headers of the connection, as words of a shell. */
  readonly given: readonly string[];
}

interface Called {
  readonly method: 'tools/call' | 'prompts/get';
  /** The tool or the prompt. */
  readonly name: string;
  readonly args: JsonObject;
}

function oneRequest(place: Place, { method, name, args }: Called): string {
  const { revision } = place;
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'curl', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name, arguments: args, _meta: meta };
  const headers = [
    `MCP-Protocol-Version: ${revision}`,
    `Mcp-Method: ${method}`,
    `Mcp-Name: ${encodeHeaderValue(name)}`,
  ];
  return post(place, headers, { jsonrpc: '2.0', id: 1, method, params });
}

/** In the variable from which the command reads its token, too. */
function bearerOf({ auth }: ConnectionView): readonly string[] {
  return auth.state === 'token' || auth.state === 'logged-in'
    ? ['-H "Authorization: Bearer $MCP_TOKEN"']
    : [];
}

/** Before 2026, a call needs a session, whose id is in a header of the first reply. */
function inSession(place: Place, { method, name, args }: Called): string {
  const { revision } = place;
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'curl', version: '1' } };
  const open = post(place, [], { jsonrpc: '2.0', id: 0, method: 'initialize', params }, '-si');
  const headers = [`MCP-Protocol-Version: ${revision}`];
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const call = { jsonrpc: '2.0', id: 1, method, params: { name, arguments: args } };
  const withSession = (command: string) => command.replace('curl ', 'curl -H "Mcp-Session-Id: $session" ');
  return [
    `session=$(${open} | tr -d '\\r' | awk 'tolower($1) == "mcp-session-id:" { print $2 }')`,
    withSession(post(place, headers, initialized)),
    withSession(post(place, headers, call)),
  ].join('\n');
}

function post({ url, given }: Place, headers: readonly string[], body: object, flags = '-sS'): string {
  const all = ['Content-Type: application/json', 'Accept: application/json, text/event-stream', ...headers];
  const words = [...all.map((header) => `-H ${shellWord(header)}`), ...given].join(' ');
  return `curl ${flags} ${shellWord(url)} ${words} -d ${shellWord(JSON.stringify(body))}`;
}
