// `server.json`, as the MCP registry takes it (schema 2025-12-11), with the rules that the official registry adds.

import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import { isWebUrl, schemaProblems, text } from './check-document.js';
import {
  arrayOf,
  BOOLEAN,
  ICONS,
  INPUT,
  mapOf,
  NAMED_INPUT,
  object,
  REPOSITORY,
  SERVER_NAME,
  SHORT,
  STRING,
  VERSION,
} from './document-schemas.js';

export const SERVER_JSON_SCHEMA =
  'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided';
const MAX_META_BYTES = 4096;
const VERSIONED = new Set(['npm', 'pypi', 'nuget', 'cargo']);
const RANGE = /^[\^~<>=]|(?:^|\.)[xX*](?:\.|$)|\s\|\||\s-\s/;
const BUNDLE_HOSTS = new Set(['github.com', 'gitlab.com']);

const url: JsonObject = { type: 'string', pattern: '^(https?://\\S+|\\{[a-zA-Z_][a-zA-Z0-9_]*\\}\\S*)$' };
const overHttp = object(
  {
    type: { enum: ['streamable-http', 'sse'] },
    url,
    headers: arrayOf(NAMED_INPUT),
    variables: mapOf(INPUT),
  },
  ['type', 'url'],
);
const argument = object(
  {
    ...(INPUT['properties'] as JsonObject),
    type: { enum: ['positional', 'named'] },
    name: STRING,
    valueHint: STRING,
    isRepeated: BOOLEAN,
  },
  ['type'],
);
const onePackage = object(
  {
    ...{
      registryType: STRING,
      registryBaseUrl: STRING,
      identifier: STRING,
      version: VERSION,
      runtimeHint: STRING,
    },
    fileSha256: { type: 'string', pattern: '^[a-f0-9]{64}$' },
    transport: object({ type: { enum: ['stdio', 'streamable-http', 'sse'] }, url }, ['type']),
    runtimeArguments: arrayOf(argument),
    packageArguments: arrayOf(argument),
    environmentVariables: arrayOf(NAMED_INPUT),
  },
  ['registryType', 'identifier', 'transport'],
);
const SCHEMA = object(
  {
    ...{ $schema: STRING, name: SERVER_NAME, title: SHORT, description: SHORT, version: VERSION },
    ...{ websiteUrl: STRING, repository: REPOSITORY, icons: ICONS, _meta: object({}) },
    packages: arrayOf(onePackage),
    remotes: arrayOf(overHttp),
  },
  ['name', 'description', 'version'],
);

/** The problems of a `server.json`. `manifest` is the package.json of the same project, if there is one. */
export function serverJsonProblems(document: JsonObject, manifest?: JsonObject): readonly string[] {
  const problems = schemaProblems(document, SCHEMA);
  if (problems.length > 0) return problems;
  const packages = (document['packages'] ?? []) as readonly JsonObject[];
  const remotes = (document['remotes'] ?? []) as readonly JsonObject[];
  const name = text(document, 'name') ?? '';
  return [
    ...(isRange(document['version'])
      ? [`version must be one version, not the range ${said(document['version'])}.`]
      : []),
    ...(packages.length + remotes.length === 0
      ? ['It needs "packages" or "remotes": otherwise nobody can use the server.']
      : []),
    ...packages.flatMap((one, at) => packageProblems(one, `packages[${at}]`, { name, manifest })),
    ...remotes.flatMap((one, at) => remoteProblems(one, `remotes[${at}]`)),
    ...secretProblems(document, ''),
    ...metaProblems(document['_meta']),
    ...(document['websiteUrl'] === undefined || isWebUrl(document['websiteUrl'])
      ? []
      : ['websiteUrl must be a URL.']),
  ];
}

interface Project {
  readonly name: string;
  readonly manifest: JsonObject | undefined;
}

function packageProblems(one: JsonObject, at: string, { name, manifest }: Project): readonly string[] {
  const type = String(one['registryType']);
  const { version, identifier, transport } = one;
  const problems: string[] = [];
  if (VERSIONED.has(type) && version === undefined) problems.push(`${at}.version is missing.`);
  if (isRange(version) || version === 'latest')
    problems.push(`${at}.version must be one version, not ${said(version)}.`);
  if (isObject(transport) && transport['type'] !== 'stdio' && transport['url'] === undefined)
    problems.push(`${at}.transport.url is missing.`);
  if (type === 'oci' && version !== undefined)
    problems.push(`${at}.version belongs in the tag of the identifier.`);
  if (type === 'mcpb') problems.push(...bundleProblems(one, at));
  const isOwn = type === 'npm' && manifest !== undefined && manifest['name'] === identifier;
  if (isOwn && manifest['mcpName'] !== name)
    problems.push(
      `package.json needs "mcpName": ${said(name)}, with which the registry recognizes the owner.`,
    );
  if (isOwn && version !== manifest['version'])
    problems.push(`${at}.version is ${said(version)}, but package.json has ${said(manifest['version'])}.`);
  return problems;
}

function bundleProblems({ fileSha256, identifier }: JsonObject, at: string): readonly string[] {
  const host = isWebUrl(identifier) ? new URL(String(identifier)).hostname : '';
  return [
    ...(fileSha256 === undefined
      ? [`${at}.fileSha256 is missing. \`fullmcp publish bundle\` prints it.`]
      : []),
    ...(BUNDLE_HOSTS.has(host)
      ? []
      : [`${at}.identifier must be the URL of a release on github.com or gitlab.com.`]),
  ];
}

function remoteProblems(remote: JsonObject, at: string): readonly string[] {
  const address = String(remote['url']);
  if (address.startsWith('{')) return [];
  if (!URL.canParse(address.replaceAll(/[{}]/g, ''))) return [`${at}.url is not a URL.`];
  const { protocol, hostname, username, password } = new URL(address.replaceAll(/[{}]/g, ''));
  return [
    ...(protocol === 'https:' ? [] : [`${at}.url must begin with https://.`]),
    ...(/^(?:localhost|127\.|\[::1\]|10\.|192\.168\.)/.test(hostname)
      ? [`${at}.url is not reachable for others.`]
      : []),
    ...(username === '' && password === '' ? [] : [`${at}.url has credentials, and the registry is public.`]),
  ];
}

/** The document is public, so a secret must not have a value in it. */
function secretProblems(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => secretProblems(item, `${path}[${at}]`));
  if (!isObject(value)) return [];
  const has = ['value', 'default'].filter((field) => value[field] !== undefined && !isTemplate(value[field]));
  const own =
    value['isSecret'] === true
      ? has.map((field) => `${path}.${field} is the value of a secret, and the registry is public.`)
      : [];
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, inner]) =>
      secretProblems(inner, path === '' ? name : `${path}.${name}`),
    ),
  ];
}

/** `Bearer {token}` only says where the secret goes. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'string' && /\{[\w-]{1,100}\}/.test(value);
}

function metaProblems(meta: unknown): readonly string[] {
  if (!isObject(meta)) return [];
  const bytes = Buffer.byteLength(JSON.stringify(meta[PUBLISHER] ?? null));
  return [
    ...Object.keys(meta)
      .filter((key) => key !== PUBLISHER)
      .map((key) => `_meta ${said(key)} is dropped by the registry, which keeps only ${said(PUBLISHER)}.`),
    ...(bytes > MAX_META_BYTES ? [`_meta has ${bytes} bytes, and may have ${MAX_META_BYTES}.`] : []),
  ];
}

function isRange(version: unknown): boolean {
  return typeof version === 'string' && RANGE.test(version);
}

function said(value: unknown): string {
  return JSON.stringify(value) ?? 'none';
}
