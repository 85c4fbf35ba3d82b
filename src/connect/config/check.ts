import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { McpConfig, ServerEntry } from '../targets/target.js';

const SERVER_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const shapes = ['command', 'url', 'target'];

/** Reads a config: `mcpServers` as most programs write it, or `servers`. All mistakes are told in one error. */
export function checkConfig(value: unknown, source?: string): McpConfig {
  const servers = isObject(value) ? (value['mcpServers'] ?? value['servers']) : undefined;
  const mistakes = isObject(servers)
    ? Object.entries(servers).flatMap(([name, entry]) => mistakesIn(name, entry))
    : ['it must be an object with the servers by their names under "mcpServers"'];
  throwMistakes(mistakes, source);
  return { mcpServers: servers as McpConfig['mcpServers'] };
}

/** Reads one server. */
export function checkServer(name: string, entry: unknown): ServerEntry {
  throwMistakes(mistakesIn(name, entry));
  return entry as ServerEntry;
}

/** Throws what was found, a line each. Mistakes never hold a value: it may be a secret. */
export function throwMistakes(mistakes: readonly string[], source?: string): void {
  if (mistakes.length === 0) return;
  const where = source === undefined ? 'The config of the servers' : `The config in ${source}`;
  throw new McpError(
    'invalid_params',
    [`${where} has mistakes:`, ...mistakes.map((line) => `- ${line}`)].join('\n'),
    {
      data: { mistakes },
    },
  );
}

function mistakesIn(name: string, entry: unknown): readonly string[] {
  const found: string[] = [];
  if (!SERVER_NAME.test(name)) {
    const shown = JSON.stringify(name.slice(0, 64));
    found.push(
      `${shown}: a server's name may have letters, digits, _ and -, up to 64, since it goes before the names of tools`,
    );
  }
  const wrong = isObject(entry)
    ? [...shapeMistakes(entry), ...fieldMistakes(entry)]
    : ['it must be an object'];
  return [...found, ...wrong.map((mistake) => `${name.slice(0, 64)}: ${mistake}`)];
}

function shapeMistakes(entry: Record<string, unknown>): readonly string[] {
  const given = shapes.filter((shape) => entry[shape] !== undefined);
  if (given.length === 1) return [];
  return [
    given.length === 0
      ? 'it has neither "command" (a process to start) nor "url" (an address)'
      : `it has both "${given.join('" and "')}": which one is meant?`,
  ];
}

function fieldMistakes(entry: Record<string, unknown>): readonly string[] {
  const { command, args, env, cwd, url, headers, auth, disabled } = entry;
  return [
    command !== undefined && !isText(command) && '"command" must be a text',
    args !== undefined && !(Array.isArray(args) && args.every(isAnyText)) && '"args" must be a list of texts',
    ...recordMistakes('env', env),
    cwd !== undefined && !isText(cwd) && '"cwd" must be a text',
    url !== undefined &&
      !isAddress(url) &&
      '"url" must be an address that begins with http://, https://, ws:// or wss://',
    ...recordMistakes('headers', headers),
    auth !== undefined &&
      !isText(auth) &&
      typeof auth !== 'function' &&
      '"auth" must be a token or a function that gives one',
    disabled !== undefined && typeof disabled !== 'boolean' && '"disabled" must be true or false',
  ].filter((mistake) => mistake !== false);
}

function recordMistakes(field: string, record: unknown): readonly string[] {
  if (record === undefined) return [];
  if (!isObject(record)) return [`"${field}" must be an object of texts`];
  return Object.entries(record).flatMap(([key, value]) =>
    isAnyText(value) ? [] : [`"${field}.${key.slice(0, 64)}" must be a text, in quotes`],
  );
}

function isAnyText(value: unknown): value is string {
  return typeof value === 'string';
}

function isText(value: unknown): value is string {
  return isAnyText(value) && value !== '';
}

function isAddress(value: unknown): boolean {
  return isText(value) && /^(?:https?|wss?):\/\//i.test(value) && URL.canParse(value);
}
