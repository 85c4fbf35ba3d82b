// Checks the config of several servers.

import { isObject } from '../../jsonrpc/message.js';
import { unknownKeys } from '../../protocol/checks/known-keys.js';
import { quote, shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { McpConfig, ServerEntry } from '../targets/target.js';

const SERVER_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const shapes = ['command', 'url', 'target'];

/** Checks a config: `mcpServers` as most programs write it, or `servers`. One error names all mistakes. */
export function checkConfig(value: unknown, source?: string): McpConfig {
  const servers = isObject(value) ? (value['mcpServers'] ?? value['servers']) : undefined;
  const mistakes = isObject(servers)
    ? Object.entries(servers).flatMap(([name, entry]) => mistakesIn(name, entry))
    : ['it must be an object with the servers by name under "mcpServers"'];
  throwMistakes(mistakes, source);
  return { mcpServers: servers as McpConfig['mcpServers'] };
}

/** Checks one server of a config. */
export function checkServer(name: string, entry: unknown): ServerEntry {
  throwMistakes(mistakesIn(name, entry));
  return entry as ServerEntry;
}

/** The fields of a server that are neither known nor misspelled. They may be those of a program that is newer than this one. */
export function ignoredFields(entry: ServerEntry): readonly string[] {
  return Object.keys(entry).filter((key) => !isKnownField(key));
}

/** The sentence about a field that is ignored. */
export function ignoredField(name: string, field: string): string {
  return `${name}: the field ${quote(field, 64)} of its config is not known, and is ignored`;
}

function isKnownField(key: string): boolean {
  return Object.hasOwn(ownFields, key) || HOST_FIELDS.has(key) || /^(?:\$|_|\/\/)/.test(key);
}

type FieldCheck = readonly [isRight: (value: unknown) => boolean, words: string];

const text: FieldCheck = [isNonEmptyString, 'a non-empty string'];
const strings: FieldCheck = [isObject, 'an object whose values are strings'];
const pem: FieldCheck = [isPem, 'PEM text or the path of a file'];
const anything: FieldCheck = [() => true, 'a value'];

/** The fields of a server: the check of their values, and the words for it. */
const ownFields: Readonly<Record<string, FieldCheck>> = {
  command: text,
  args: [(value) => Array.isArray(value) && value.every(isString), 'an array of strings'],
  env: strings,
  cwd: text,
  url: [isAddress, 'a URL that begins with http://, https://, ws:// or wss://'],
  headers: strings,
  auth: [isAuth, 'a token, a function that returns one, or an object such as oauth() makes'],
  ca: pem,
  cert: pem,
  key: pem,
  target: anything,
  disabled: [(value) => typeof value === 'boolean', 'true or false'],
  type: anything,
};

/** Fields that hosts have in the same files. They say nothing about the connection, or nothing that is needed here. */
const HOST_FIELDS: ReadonlySet<string> = new Set([
  ...['transport', 'transportType', 'enabled', 'timeout', 'initTimeout', 'startupTimeout', 'networkTimeout'],
  ...['autoApprove', 'alwaysAllow', 'alwaysLoad', 'trust', 'tools', 'disabledTools', 'enabledTools'],
  ...['includeTools', 'excludeTools', 'roots', 'sampling', 'serverInstructions', 'chatMenu', 'startup'],
  ...[
    'id',
    'name',
    'title',
    'description',
    'note',
    'notes',
    'comment',
    'icon',
    'iconPath',
    'iconUrl',
    'tags',
  ],
  ...['version', 'source', 'gallery', 'fromGalleryId', 'provider', 'metadata', 'settings', 'inputs', 'dev'],
  ...['envFile', 'watchPaths', 'sandbox', 'sandboxEnabled', 'start_on_launch', 'working_directory'],
  ...['oauth', 'oauthScopes', 'requiresOAuth', 'authProviderType', 'targetAudience', 'targetServiceAccount'],
  ...['headersHelper', 'customUserVars', 'httpUrl', 'serverUrl', 'remoteConfigured', 'extension', 'scope'],
]);

/**
 * Whether the `auth` of a server describes how Cursor logs in: `{ CLIENT_ID, CLIENT_SECRET, scopes }`. It is ignored like the `oauth` of other
 * hosts: the client is registered with the address of that host, so that nobody else can log in with it.
 */
export function isHostLogin(auth: unknown): boolean {
  return isObject(auth) && isNonEmptyString(auth['CLIENT_ID']) && auth['headersFor'] === undefined;
}

/** Names that other formats, or habit, give to fields. */
const OTHER_NAMES = { cmd: 'command', arguments: 'args', environment: 'env', uri: 'url' } as const;

function spellingMistakes(entry: Record<string, unknown>): readonly string[] {
  return unknownKeys(entry, ownFields, OTHER_NAMES)
    .filter(({ key, closest }) => closest !== undefined && !isKnownField(key))
    .map(({ key, closest }) => `it has ${quote(key, 64)}. Did you mean "${closest}"?`);
}

/** Throws one error with all mistakes, one per line. They never contain a value, which may be a secret. */
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
  const nameMistakes: string[] = [];
  if (!SERVER_NAME.test(name)) {
    const excerpt = quote(name, 64);
    nameMistakes.push(
      `${excerpt}: a server's name consists of up to 64 letters, digits, _ and -, since it is the prefix of its tools' names`,
    );
  }
  const entryMistakes = isObject(entry)
    ? [...shapeMistakes(entry), ...spellingMistakes(entry), ...fieldMistakes(entry)]
    : ['it must be an object'];
  return [...nameMistakes, ...entryMistakes.map((mistake) => `${shorten(name, 64)}: ${mistake}`)];
}

function shapeMistakes(entry: Record<string, unknown>): readonly string[] {
  const present = shapes.filter((shape) => entry[shape] !== undefined);
  if (present.length === 1) return [];
  const address = ['httpUrl', 'serverUrl'].find((field) => entry[field] !== undefined);
  if (present.length === 0 && address !== undefined)
    return [`it has "${address}", which only some programs read. Write "url"`];
  return [
    present.length === 0
      ? 'it has neither "command" (a process to start) nor "url" (an address)'
      : `it has both "${present.join('" and "')}": give only one of them`,
  ];
}

function fieldMistakes(entry: Record<string, unknown>): readonly string[] {
  return Object.entries(ownFields).flatMap(([field, check]) => {
    const { [field]: value } = entry;
    const [isRight, words] = check;
    if (value === undefined) return [];
    if (!isRight(value)) return [`"${field}" must be ${words}`];
    return check === strings ? stringMistakes(field, value as object) : [];
  });
}

function stringMistakes(field: string, record: object): readonly string[] {
  return Object.entries(record).flatMap(([key, value]) =>
    isString(value) || (field === 'env' && value === undefined)
      ? []
      : [`"${field}.${shorten(key, 64)}" must be a string, in quotes`],
  );
}

function isAuth(value: unknown): boolean {
  return (
    isNonEmptyString(value) ||
    typeof value === 'function' ||
    (isObject(value) && typeof value['headersFor'] === 'function') ||
    isHostLogin(value)
  );
}

function isPem(value: unknown): boolean {
  return [value].flat().every((one) => isNonEmptyString(one) || one instanceof Uint8Array);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isNonEmptyString(value: unknown): value is string {
  return isString(value) && value !== '';
}

function isAddress(value: unknown): boolean {
  return isNonEmptyString(value) && /^(?:https?|wss?):\/\//i.test(value) && URL.canParse(value);
}
