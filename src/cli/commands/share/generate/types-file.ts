// The types of a server, and a client that has them.

import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import type { Manifest } from '../../../../tooling/manifest/manifest.js';
import { schemaType } from './schema-type.js';
import { docComment, keyText, lineComment, literal, typeName } from './source-text.js';

/** The line that a generated file begins with. */
export function headerText({ server }: Manifest, kind: string): string {
  const about = lineComment(`${String(server['name'])} ${String(server['version'] ?? '')}`.trim());
  return `Written by \`fullmcp generate ${kind}\` for ${about}. Run it again instead of editing this file.`;
}

/** A file with the types of the arguments and results of a server. */
export function typesFile(manifest: Manifest, kind = 'types'): string {
  const { tools, prompts, resources, templates } = manifest;
  return [
    `// ${headerText(manifest, kind)}`,
    '',
    '/** The arguments of the tools, by their names. */',
    fieldsOf('ToolArguments', tools, (tool) => schemaType(tool['inputSchema'], '  ')),
    '',
    '/** The data that the tools return, by their names; unknown if a tool does not describe it. */',
    fieldsOf('ToolResults', tools, (tool) => schemaType(tool['outputSchema'], '  ')),
    '',
    '/** The arguments of the prompts, by their names. */',
    fieldsOf('PromptArguments', prompts, promptType),
    '',
    '/** The URIs of the resources. */',
    `export type ResourceUri = ${uris(resources, 'uri')};`,
    '',
    '/** The templates of URIs. */',
    `export type ResourceTemplate = ${uris(templates, 'uriTemplate')};`,
    '',
  ].join('\n');
}

/** A file with a function that connects, whose client has the types. */
export function clientFile(manifest: Manifest, target: unknown): string {
  const name = typeName(String(manifest.server['name']));
  const parameter = target === undefined ? 'target: Target' : `target: Target = ${literal(target)}`;
  return [
    typesFile(manifest, 'client').replace(
      '\n',
      "\n\nimport { type Client, type ConnectOptions, connect, type Target } from 'fullmcp/client';\n",
    ),
    '/** The type that `connect` takes. */',
    `export interface ${name}Server {`,
    "  readonly '~tools'?: {",
    '    readonly [Name in keyof ToolArguments]: {',
    "      readonly '~signature'?: (args: ToolArguments[Name]) => ToolResults[Name];",
    '    };',
    '  };',
    '}',
    '',
    '/** Connects. `client.tool` has the tools as functions, with their types. */',
    `export function connect${name}(${parameter}, options: ConnectOptions = {}): Promise<Client<${name}Server>> {`,
    `  return connect<${name}Server>(target, options);`,
    '}',
    '',
  ].join('\n');
}

function fieldsOf(name: string, items: readonly JsonObject[], type: (item: JsonObject) => string): string {
  const fields = items.map(
    (item) => `${docComment(item['description'], '  ')}  ${keyText(String(item['name']))}: ${type(item)};\n`,
  );
  return `export type ${name} = {\n${fields.join('')}};`;
}

function promptType({ arguments: args }: JsonObject): string {
  const fields = Array.isArray(args) ? args.filter(isObject) : [];
  const properties = Object.fromEntries(
    fields.map(({ name, description }) => [String(name), { type: 'string', description }]),
  );
  const required = fields.filter((field) => field['required'] === true).map(({ name }) => String(name));
  return schemaType({ type: 'object', properties, required, additionalProperties: false }, '  ');
}

function uris(items: readonly JsonObject[], key: string): string {
  return items.length === 0 ? 'never' : items.map((item) => literal(String(item[key]))).join(' | ');
}
