// A reference of a server in Markdown. The text of the server stays text: no HTML, no links, no headings of its own.

import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import { fieldsOf } from '../../../../schema/read/across-branches.js';
import { shapeOf } from '../../../../schema/read/shape.js';
import { cleanJson, cleanLine } from '../../../../tooling/clean.js';
import type { Manifest } from '../../../../tooling/manifest/manifest.js';
import { typeOf } from '../../../terminal/signature.js';

const MAX_TEXT = 2000;
const MAX_CELL = 300;
const MAX_FENCED = 20_000;

/** The reference. */
export function docsFile(manifest: Manifest): string {
  const { server, instructions, revision } = manifest;
  const blocks = [
    `# ${prose(String(server['title'] ?? server['name']))}`,
    '<!-- Written by `fullmcp generate docs`. Run it again instead of editing this file. -->',
    `Version ${code(String(server['version'] ?? ''))}, revision ${code(revision)} of the protocol.`,
    ...(instructions === undefined ? [] : [prose(instructions)]),
    ...section('Tools', manifest.tools, toolBlocks),
    ...section('Resources', manifest.resources, (item) => resourceBlocks(item, 'uri')),
    ...section('Resource templates', manifest.templates, (item) => resourceBlocks(item, 'uriTemplate')),
    ...section('Prompts', manifest.prompts, promptBlocks),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function section(
  title: string,
  items: readonly JsonObject[],
  blocks: (item: JsonObject) => readonly string[],
): readonly string[] {
  return items.length === 0 ? [] : [`## ${title}`, ...items.flatMap(blocks)];
}

function toolBlocks(tool: JsonObject): readonly string[] {
  const { inputSchema, outputSchema } = tool;
  const root = isObject(inputSchema) ? inputSchema : {};
  const rows = fieldsOf(root, root).map(({ name, schema, isRequired }) => [
    code(name),
    code(typeOf(schema, root)),
    isRequired ? 'yes' : '',
    cell(shapeOf(schema, root).schema['description']),
  ]);
  return [
    `### ${code(String(tool['name']))}`,
    prose(tool['description']),
    hints(tool['annotations']),
    table(['argument', 'type', 'required', ''], rows),
    ...(outputSchema === undefined ? [] : ['Returns:', fenced(outputSchema)]),
  ];
}

function hints(annotations: unknown): string {
  if (!isObject(annotations)) return '';
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
  const said = [
    ...(readOnlyHint === true ? ['only reads'] : []),
    ...(destructiveHint === true && readOnlyHint !== true ? ['may destroy data'] : []),
    ...(idempotentHint === true ? ['can be repeated'] : []),
  ];
  return said.length === 0 ? '' : `This tool ${said.join(', ')}.`;
}

function resourceBlocks(item: JsonObject, key: string): readonly string[] {
  const { mimeType } = item;
  const type = typeof mimeType === 'string' ? `Type: ${code(mimeType)}.` : '';
  return [
    `### ${code(String(item[key]))}`,
    prose(item['title'] ?? item['name']),
    prose(item['description']),
    type,
  ];
}

function promptBlocks({ name, description, arguments: args }: JsonObject): readonly string[] {
  const rows = (Array.isArray(args) ? args.filter(isObject) : []).map((field) => [
    code(String(field['name'])),
    field['required'] === true ? 'yes' : '',
    cell(field['description']),
  ]);
  return [`### ${code(String(name))}`, prose(description), table(['argument', 'required', ''], rows)];
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

/** Text of a server as one paragraph, in which nothing is markup. */
function prose(text: unknown, limit = MAX_TEXT): string {
  if (typeof text !== 'string') return '';
  return cleanLine(text, limit)
    .trim()
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(MARKUP, '\\$&')
    .replace(AT_START, '$1\\$2');
}

/** Characters that begin markup anywhere in a line; a colon and a full stop only where they make a link or a symbol. */
const MARKUP = /[\\`*_{}[\]|~@$^]|={2}|:(?=[\w/])|(?<=\bwww)\./gi;
/** A heading, a list, a line or a number of a list. */
const AT_START = /^(\d{0,10})([#+\-=.)])/;

function cell(text: unknown): string {
  return prose(text, MAX_CELL);
}

/** Text as code on one line. A backtick would end it, and a bar would end the cell of a table. */
function code(text: string): string {
  const line = cleanLine(text, MAX_CELL).replaceAll('`', 'ˋ').replaceAll('|', '\\|');
  return line.trim() === '' ? '' : `\`${line}\``;
}

/** JSON in a block whose fence is longer than any in it. */
function fenced(value: unknown): string {
  const text = cleanJson(JSON.stringify(value, undefined, 2)).replaceAll('<', '\\u003c');
  const shown = text.length > MAX_FENCED ? `${text.slice(0, MAX_FENCED)}…` : text;
  const longest = Math.max(2, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}json\n${shown}\n${fence}`;
}
