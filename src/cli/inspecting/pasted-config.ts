// Reads a configuration that was pasted: an `mcpServers` file, the part of one, or a single server.

import process from 'node:process';
import { parseConfig } from '../../connect/config/file.js';
import type { ServerEntry } from '../../connect/targets/target.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { cleanLine } from '../../tooling/clean.js';
import { readJsonTree } from '../hosts/formats/json-tree.js';

const MAX_NAMES = 10;

/** Whether the user has pasted a configuration. */
export function looksLikeConfig(text: string): boolean {
  return /^\s*[{"]/.test(text) && text.includes('{');
}

/** The only server of the configuration. Throws an error for the user if there are several, or none. */
export function readPasted(text: string): { readonly name: string; readonly entry: ServerEntry } {
  const servers = Object.entries(
    parseConfig(JSON.stringify({ mcpServers: serversIn(text) }), { env: process.env }).mcpServers,
  );
  const usable = servers.filter(([, { disabled }]) => disabled !== true);
  const [only, more] = usable;
  if (only === undefined) throw wrong('The text has no server that is enabled.');
  if (more !== undefined) {
    const names = usable.map(([name]) => cleanLine(name, 40));
    throw wrong(
      `The text has ${names.length} servers: ${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}. Paste one of them.`,
    );
  }
  return { name: only[0], entry: only[1] };
}

function serversIn(text: string): JsonObject {
  const value = parse(text);
  const servers = value['mcpServers'] ?? value['servers'];
  if (isObject(servers)) return servers;
  if (isServer(value)) return { server: value };
  if (Object.values(value).length > 0 && Object.values(value).every(isServer)) return value;
  throw wrong('The JSON is not a server: it has neither "mcpServers", nor "command", nor "url".');
}

/** Hosts allow comments in these files. A part of a file, `"name": { … }`, lacks the braces around it. */
function parse(text: string): JsonObject {
  const trimmed = text.trim().replace(/,$/, '');
  for (const json of [trimmed, `{${trimmed}}`]) {
    try {
      const { value } = readJsonTree(json);
      if (isObject(value)) return value;
    } catch {
      // The sentence below says what is expected.
    }
  }
  throw wrong('The text begins like JSON, but is not: paste an mcpServers file, or one server of it.');
}

function isServer(value: unknown): boolean {
  return isObject(value) && (typeof value['command'] === 'string' || typeof value['url'] === 'string');
}

function wrong(message: string): McpError {
  return new McpError('invalid_params', message);
}
