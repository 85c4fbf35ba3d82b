// The `manifest.json` of a bundle (MCPB, versions 0.1 to 0.4).

import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import { isWebUrl, schemaProblems, text } from './check-document.js';
import { arrayOf, BOOLEAN, closed, mapOf, object, STRING, STRINGS } from './document-schemas.js';

const VERSIONS = ['0.1', '0.2', '0.3', '0.4'];
const NUMBER: JsonObject = { type: 'number' };
const started: JsonObject = { command: STRING, args: STRINGS, env: mapOf(STRING) };

const SCHEMA = closed(
  {
    ...{ $schema: STRING, manifest_version: { enum: VERSIONS }, dxt_version: { enum: VERSIONS } },
    ...{ name: STRING, display_name: STRING, version: STRING, description: STRING, long_description: STRING },
    author: closed({ name: STRING, email: STRING, url: STRING }, ['name']),
    repository: closed({ type: STRING, url: STRING }, ['type', 'url']),
    ...{ homepage: STRING, documentation: STRING, support: STRING, icon: STRING, screenshots: STRINGS },
    icons: arrayOf(
      closed({ src: STRING, size: { type: 'string', pattern: '^\\d+x\\d+$' }, theme: STRING }, [
        'src',
        'size',
      ]),
    ),
    localization: closed({ resources: STRING, default_locale: STRING }, ['resources', 'default_locale']),
    server: closed(
      {
        type: { enum: ['python', 'node', 'binary', 'uv'] },
        entry_point: STRING,
        mcp_config: closed({ ...started, platform_overrides: mapOf(closed(started)) }, ['command']),
      },
      ['type', 'entry_point'],
    ),
    tools: arrayOf(closed({ name: STRING, description: STRING }, ['name'])),
    tools_generated: BOOLEAN,
    prompts: arrayOf(
      closed({ name: STRING, description: STRING, arguments: STRINGS, text: STRING }, ['name', 'text']),
    ),
    prompts_generated: BOOLEAN,
    ...{ keywords: STRINGS, license: STRING, privacy_policies: STRINGS },
    compatibility: closed({
      claude_desktop: STRING,
      platforms: arrayOf({ enum: ['darwin', 'win32', 'linux'] }),
      runtimes: closed({ python: STRING, node: STRING }),
    }),
    user_config: mapOf(
      closed(
        {
          type: { enum: ['string', 'number', 'boolean', 'directory', 'file'] },
          ...{ title: STRING, description: STRING, required: BOOLEAN, multiple: BOOLEAN, sensitive: BOOLEAN },
          ...{ min: NUMBER, max: NUMBER, default: {} },
        },
        ['type', 'title', 'description'],
      ),
    ),
    _meta: mapOf(object({})),
  },
  ['name', 'version', 'description', 'author', 'server'],
);

/** The problems of a manifest, for a bundle that has these files. */
export function manifestProblems(manifest: JsonObject, files: ReadonlySet<string>): readonly string[] {
  const problems = schemaProblems(manifest, SCHEMA);
  if (problems.length > 0) return problems;
  const server = manifest['server'] as JsonObject;
  const version = text(manifest, 'manifest_version') ?? text(manifest, 'dxt_version');
  const config = server['mcp_config'];
  const urls = ['homepage', 'documentation', 'support'].filter((name) => manifest[name] !== undefined);
  return [
    ...(version === undefined
      ? ['manifest_version is missing: "0.3" is the newest that hosts know well.']
      : []),
    ...(server['type'] === 'uv' && version !== '0.4'
      ? ['server.type "uv" needs manifest_version "0.4".']
      : []),
    ...(config === undefined && server['type'] !== 'uv'
      ? ['server.mcp_config is missing: hosts start the server with it.']
      : []),
    ...urls.filter((name) => !isWebUrl(manifest[name])).map((name) => `${name} must be a URL.`),
    ...fileProblems(manifest, server, files),
    ...(isObject(config) ? variableProblems(config, manifest['user_config']) : []),
    ...sensitiveProblems(manifest['user_config']),
  ];
}

function fileProblems(
  manifest: JsonObject,
  server: JsonObject,
  files: ReadonlySet<string>,
): readonly string[] {
  const icons = (Array.isArray(manifest['icons']) ? manifest['icons'] : []).map(
    (icon: JsonObject) => icon['src'],
  );
  const named: readonly (readonly [string, unknown])[] = [
    ['server.entry_point', server['entry_point']],
    ['icon', manifest['icon']],
    ...icons.map((icon) => ['icons', icon] as const),
    ...((manifest['screenshots'] ?? []) as readonly unknown[]).map((shot) => ['screenshots', shot] as const),
  ];
  return named
    .filter(
      ([, file]) => typeof file === 'string' && !isWebUrl(file) && !files.has(file.replace(/^\.\//, '')),
    )
    .map(([field, file]) => `${field} names ${JSON.stringify(file)}, which is not in the bundle.`);
}

/** Each `${user_config.…}` must be a setting that the user is asked for. */
function variableProblems(config: JsonObject, settings: unknown): readonly string[] {
  const known = isObject(settings) ? settings : {};
  const names = Array.from(
    JSON.stringify(config).matchAll(/\$\{user_config\.([\w-]{1,100})\}/g),
    ([, name = '']) => name,
  );
  return [...new Set(names)]
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => `server.mcp_config uses \${user_config.${name}}, which user_config does not have.`);
}

function sensitiveProblems(settings: unknown): readonly string[] {
  if (!isObject(settings)) return [];
  return Object.entries(settings)
    .filter(
      ([, setting]) => isObject(setting) && setting['sensitive'] === true && setting['default'] !== undefined,
    )
    .map(
      ([name]) =>
        `user_config.${name} is sensitive, and must not have a default in a file that everybody gets.`,
    );
}

/** A manifest for the package of a Node project. */
export function manifestOfPackage(found: JsonObject): JsonObject {
  const { author } = found;
  const name = isObject(author)
    ? text(author, 'name')
    : typeof author === 'string'
      ? author.split(/[<(]/)[0]?.trim()
      : '';
  const entry = (text(found, 'main') ?? 'server/index.js').replace(/^\.\//, '');
  const license = text(found, 'license');
  return {
    manifest_version: '0.3',
    name: text(found, 'name') ?? 'my-server',
    version: text(found, 'version') ?? '0.1.0',
    description: text(found, 'description') ?? 'An MCP server',
    author: { name: name || 'Unknown' },
    server: {
      type: 'node',
      entry_point: entry,
      mcp_config: { command: 'node', args: [`\${__dirname}/${entry}`], env: {} },
    },
    ...(license !== undefined && { license }),
  };
}
