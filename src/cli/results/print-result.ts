// Prints the result of a tool: text as it is, data as JSON or as a table, bytes into a file.

import type { CallResult } from '../../client/model/client.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import type { ContentBlock } from '../../protocol/model/content.js';
import { cleanLine } from '../../tooling/clean.js';
import type { Options, Typed } from '../command/definition.js';
import { CommandError } from '../command/failures.js';
import { isMarkdown, markdownStyled } from '../terminal/markdown.js';
import type { Output } from '../terminal/output.js';
import { described, SAVE_OPTIONS, type SavedBinary, saveAll } from './save.js';
import { tableOf, wholeTableOf } from './table.js';

export const RESULT_OPTIONS: Options = {
  ...SAVE_OPTIONS,
  table: { type: 'boolean', help: 'print an array of objects as a table' },
};

/** The names that the JSON of a result begins with. */
export interface ResultNames {
  readonly tool?: string;
  readonly task?: string;
}

/** Prints a result. Throws if the tool failed, so that the exit code says so. */
export function printResult(result: CallResult, input: Typed, names: ResultNames, file?: string): void {
  const { content, data, text, isError } = result;
  const { out } = input;
  if (isError)
    throw new CommandError('failed', text || `${names.tool ?? 'The task'} failed.`, {
      ...names,
      ...(data !== undefined && { data }),
      content,
    });
  const binaries = content.flatMap(binaryOf);
  const shown = shownText(result, input.flag('table'), out);
  const saved =
    file === undefined ? [] : saveAll(file, binaries.length > 0 ? binaries : [textFile(shown)], input);
  out.json({
    ok: true,
    ...names,
    text,
    ...(data !== undefined && { data }),
    content,
    ...(file !== undefined && { files: saved }),
  });
  if (file !== undefined && binaries.length === 0) return;
  const [only] = binaries;
  if (shown === '' && only && binaries.length === 1 && out.isPiped && file === undefined)
    return out.bytes(only.bytes);
  if (shown !== '' || binaries.length === 0) printText(shown, out);
  if (file === undefined && !out.isJson) for (const binary of binaries) printBinary(binary, out);
}

/** Prints bytes that are text, shows a picture, or says what is not shown. */
function printBinary(binary: SavedBinary, out: Output): void {
  const text = textIn(binary);
  if (text !== undefined) printText(text, out, binary.mimeType);
  else if (!out.picture(binary.bytes)) out.note(`${described(binary)}, not shown. -o <file> saves it.`);
}

/** The text in bytes whose type says that they are text; undefined for others. */
export function textIn({ bytes, mimeType }: SavedBinary): string | undefined {
  if (
    !/^(text\/|application\/(json|xml|yaml|x-ndjson|javascript)\b|[a-z]+\/[\w.-]+\+(json|xml)\b)/i.test(
      mimeType,
    )
  )
    return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Prints text, with colours if it is Markdown and a terminal shows it. */
export function printText(text: string, out: Output, mimeType?: string): void {
  if (!out.isPiped && isMarkdown(text, mimeType)) out.styled(markdownStyled(text, out));
  else out.value(text);
}

function shownText({ content, data, text }: CallResult, asTable: boolean, out: Output): string {
  const structured = data ?? tryParse(text);
  const table = asTable
    ? tableOf(structured, out.width)
    : out.isPiped || out.isJson
      ? undefined
      : wholeTableOf(structured, out.columns);
  if (table !== undefined) return table;
  const words = content.flatMap(textOf).join('\n');
  // Servers repeat their data as text, for clients that do not know structured content.
  const isRepeated =
    data !== undefined && (text === '' || JSON.stringify(tryParse(text)) === JSON.stringify(data));
  return isRepeated && words === text ? JSON.stringify(data, undefined, 2) : words;
}

function textOf(block: ContentBlock): readonly string[] {
  if (block.type === 'text') return [block.text];
  if (block.type === 'resource_link') {
    const { title, name, uri, mimeType } = block;
    return [
      [cleanLine(title ?? name, 100), cleanLine(uri, 2000), cleanLine(mimeType ?? '', 80)]
        .filter(Boolean)
        .join('  '),
    ];
  }
  return block.type === 'resource' && 'text' in block.resource ? [String(block.resource.text)] : [];
}

function binaryOf(block: ContentBlock): readonly SavedBinary[] {
  if (block.type === 'image' || block.type === 'audio')
    return [{ bytes: Buffer.from(block.data, 'base64'), mimeType: block.mimeType }];
  if (block.type !== 'resource' || !('blob' in block.resource)) return [];
  const { blob, mimeType = 'application/octet-stream' } = block.resource;
  return [{ bytes: Buffer.from(String(blob), 'base64'), mimeType }];
}

function textFile(text: string): SavedBinary {
  return { bytes: Buffer.from(text), mimeType: 'text/plain' };
}
