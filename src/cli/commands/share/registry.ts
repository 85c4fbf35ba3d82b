import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Command, Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { writeNew } from './bundle.js';
import { failOn, readDocument, text } from './publishing/check-document.js';
import { SERVER_JSON_SCHEMA, serverJsonProblems } from './publishing/server-json.js';

/** `fullmcp publish registry`. */
export const registry: Command = {
  usage: '[folder]',
  details:
    'Writes and checks the server.json with which a server is published in the MCP registry. Sends nothing: `mcp-publisher publish` does that.\n--init writes the file out of package.json. Without it, the file is checked against the schema of the registry and its rules: versions,\npackages, remotes, the name in package.json (mcpName), and secrets, of which a public file must not have values.',
  words: [0, 1],
  options: {
    init: { type: 'boolean', help: 'write a server.json' },
    name: { type: 'string', value: 'name', help: 'the name in the registry, as in io.github.ann/shop' },
    remote: {
      type: 'string',
      multiple: true,
      value: 'url',
      help: 'an address at which the server is reached',
    },
    force: { type: 'boolean', help: 'overwrite the file' },
  },
  examples: [
    {
      line: 'fullmcp publish registry --init --name io.github.ann/shop',
      says: 'Writes a server.json for the npm package.',
    },
    {
      line: 'fullmcp publish registry --init --name com.example/shop --remote https://example.com/mcp',
      says: 'For a server that others reach over HTTP.',
    },
    { line: 'fullmcp publish registry', says: 'Checks server.json, for CI.' },
  ],
  json: '{ ok: boolean, file: string, name: string, version: string, sent: false, problems?: string[] }; ok is false if there are problems, and the exit code is 1',
  run: async (input) => {
    const { out } = input;
    const [folder = '.'] = input.words;
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw usageError(`${folder} is not a folder.`);
    const file = join(folder, 'server.json');
    const found = readDocument(join(folder, 'package.json'));
    const isNew = input.flag('init');
    if (!isNew && (input.text('name') !== undefined || input.texts('remote').length > 0))
      throw usageError('--name and --remote are for --init. A server.json that exists is only checked.');
    const document = isNew ? documentOf(found, input) : readDocument(file);
    if (document === undefined)
      throw usageError(
        `${file} does not exist. Write one with: fullmcp publish registry --init --name io.github.you/server`,
      );
    if (isNew) writeNew(file, document, input.flag('force'));
    const facts = { file, name: document['name'], version: document['version'], sent: false };
    failOn(serverJsonProblems(document, found), { about: file, more: facts, out });
    out.json({ ok: true, ...facts });
    out.value(file);
    if (!out.isJson) out.note('It is valid. Nothing was sent. Publish it with: mcp-publisher publish');
  },
};

function documentOf(found: JsonObject | undefined, input: Typed): JsonObject {
  const remotes = input.texts('remote');
  const name = input.text('name') ?? text(found, 'mcpName');
  if (name === undefined)
    throw usageError(
      '--name is missing: a domain that you own, reversed, and a name, as in io.github.ann/shop.',
    );
  const homepage = text(found, 'homepage');
  const repository = repositoryOf(found?.['repository']);
  const isPackage = found !== undefined && found['private'] !== true && text(found, 'name') !== undefined;
  return {
    $schema: SERVER_JSON_SCHEMA,
    name,
    description: (text(found, 'description') ?? 'An MCP server').slice(0, 100),
    version: text(found, 'version') ?? '0.1.0',
    ...(homepage !== undefined && { websiteUrl: homepage }),
    ...(repository && { repository }),
    ...(isPackage && {
      packages: [
        {
          registryType: 'npm',
          identifier: found['name'],
          version: found['version'],
          transport: { type: 'stdio' },
        },
      ],
    }),
    ...(remotes.length > 0 && { remotes: remotes.map((url) => ({ type: 'streamable-http', url })) }),
  };
}

/** `git+https://github.com/ann/shop.git` is `https://github.com/ann/shop`. */
function repositoryOf(value: unknown): JsonObject | undefined {
  const address = isObject(value) ? text(value, 'url') : typeof value === 'string' ? value : undefined;
  const [, host, path] =
    /^(?:git\+)?(?:https|ssh|git):\/\/(?:git@)?(github|gitlab)\.com\/([\w./-]{1,200}?)(?:\.git)?$/.exec(
      address ?? '',
    ) ?? [];
  if (host === undefined) return undefined;
  const subfolder = isObject(value) ? text(value, 'directory') : undefined;
  return { url: `https://${host}.com/${path}`, source: host, ...(subfolder !== undefined && { subfolder }) };
}
