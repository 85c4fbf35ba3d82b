// Reads a config of several servers from its file, and replaces environment variables.

import { isObject } from '../../jsonrpc/message.js';
import { faultOf } from '../../protocol/encoding/json-fault.js';
import { expandVariables } from '../../protocol/encoding/variables.js';
import { McpError } from '../../protocol/errors.js';
import type { McpConfig } from '../targets/target.js';
import { checkConfig, isHostLogin, throwMistakes } from './check.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigSource {
  /** The environment variables, which replace `${NAME}`. */
  readonly env: Environment;
  /** The name of the config in errors. */
  readonly name?: string;
}

export interface ConfigFileAccess {
  readonly readFile: (path: string) => Promise<string>;
  readonly env: Environment;
}

/** Reads a config file: the program's own, or that of Claude Desktop, Claude Code, Cursor or VS Code. */
export async function readConfigFile(path: string, { readFile, env }: ConfigFileAccess): Promise<McpConfig> {
  let text: string;
  try {
    text = await readFile(path);
  } catch (error) {
    const reason = error instanceof Error ? `: ${error.message}` : '';
    throw new McpError('invalid_params', `The config ${path} cannot be read${reason}`, { cause: error });
  }
  return parseConfig(text, { env, name: path });
}

/** Reads a config from JSON, and replaces environment variables by their values. One error names all mistakes. */
export function parseConfig(text: string, { env, name }: ConfigSource): McpConfig {
  const value = parseJson(text, name);
  const servers = isObject(value) ? (value['mcpServers'] ?? value['servers']) : undefined;
  if (!isObject(servers)) return checkConfig(value, name);
  const mistakes: string[] = [];
  const expanded = Object.fromEntries(
    Object.entries(servers).map(([server, entry]) => {
      // A disabled server may lack its variables.
      if (!isObject(entry) || entry['disabled'] === true) return [server, entry];
      return [server, expandEntry(entry, { env, server, mistakes })];
    }),
  );
  try {
    checkConfig({ mcpServers: expanded }, name);
  } catch (error) {
    if (!McpError.is(error) || !isObject(error.data)) throw error;
    mistakes.push(...(error.data['mistakes'] as string[]));
  }
  throwMistakes(mistakes, name);
  return { mcpServers: expanded } as McpConfig;
}

interface Expansion {
  readonly env: Environment;
  readonly server: string;
  readonly mistakes: string[];
}

const fields = ['command', 'args', 'cwd', 'url', 'headers', 'auth', 'ca', 'cert', 'key'];

function expandEntry(entry: Record<string, unknown>, expansion: Expansion): Record<string, unknown> {
  const { auth, ...rest } = entry;
  // The login of a host is not used here, so its variables need not exist.
  const own = isHostLogin(auth) ? rest : entry;
  const expanded = fields
    .filter((field) => Object.hasOwn(own, field))
    .map((field) => [field, expandValue(own[field], field, expansion)]);
  const env = isObject(own['env']) && { env: variablesOf(own['env'], expansion) };
  return { ...own, ...Object.fromEntries(expanded), ...env };
}

/** The variables of a process. VS Code has numbers there, too, and null for a variable that the process must not have. */
function variablesOf(env: Record<string, unknown>, expansion: Expansion): Record<string, unknown> {
  const plain = Object.entries(env).map(([name, value]) => [
    name,
    value === null ? undefined : typeof value === 'number' ? String(value) : value,
  ]);
  return expandValue(Object.fromEntries(plain), 'env', expansion) as Record<string, unknown>;
}

function expandValue(value: unknown, field: string, expansion: Expansion): unknown {
  if (typeof value === 'string')
    return expandVariables(value, expansion.env, (what) =>
      expansion.mistakes.push(`${expansion.server}: "${field}" ${what}`),
    );
  if (Array.isArray(value)) return value.map((item, at) => expandValue(item, `${field}[${at}]`, expansion));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expandValue(item, `${field}.${key}`, expansion)]),
  );
}

function parseJson(text: string, name: string | undefined): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return JSON.parse(json);
  } catch {
    // The runtime's error is not passed on: it may quote the config, which may contain secrets.
    const { line, column, reason } = faultOf(json);
    const where = name === undefined ? 'The config' : `The config in ${name}`;
    throw new McpError('invalid_params', `${where} is not JSON: line ${line}, column ${column}: ${reason}`, {
      data: { line, column },
    });
  }
}
