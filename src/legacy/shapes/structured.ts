import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import { isPrinted, printedValue } from '../../protocol/encoding/printed-value.js';
import { STRUCTURED } from '../../protocol/tables/meta-keys.js';

// Structured content, translated to the session era and back. Before 2026-07-28 it must be an object; since then it is any value. A
// mark in `_meta` lets a fullmcp client undo the translation.

/** A tool's result whose structured content is an object. */
export function withObject(result: JsonObject): JsonObject {
  const { structuredContent } = result;
  if (structuredContent !== undefined)
    return isObject(structuredContent) ? result : wrap(result, structuredContent, 'wrapped');
  if (isPrinted(result)) return wrap(result, printedValue(result), 'wrapped');
  const value = parseText((result['content'] as JsonObject[])[0]);
  return value === undefined ? result : wrap(result, value, 'parsed');
}

/** A tool's result without structured content, for revisions that do not have it. Most results repeat it as text. */
export function withoutStructured(result: JsonObject): JsonObject {
  const { structuredContent, ...rest } = result;
  const [block, ...more] = result['content'] as JsonObject[];
  const isDuplicate =
    more.length === 0 &&
    structuredContent !== undefined &&
    block?.['text'] === JSON.stringify(structuredContent);
  return isDuplicate ? mark(rest, 'printed') : rest;
}

/** The result as it was before `withObject` or `withoutStructured`. */
export function withoutObject(result: JsonObject): JsonObject {
  const { structuredContent, _meta, ...rest } = result;
  if (!isObject(_meta) || !Object.hasOwn(_meta, STRUCTURED)) return result;
  const { [STRUCTURED]: form, ...meta } = _meta;
  return {
    ...rest,
    ...(form === 'wrapped' && {
      structuredContent: (structuredContent as JsonObject | undefined)?.['result'],
    }),
    ...(form === 'printed' && {
      structuredContent: tryParse(String((rest['content'] as JsonObject[] | undefined)?.[0]?.['text'])),
    }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

function wrap(result: JsonObject, value: unknown, form: 'wrapped' | 'parsed'): JsonObject {
  return mark({ ...result, structuredContent: { result: value } }, form);
}

function mark(result: JsonObject, form: 'wrapped' | 'parsed' | 'printed'): JsonObject {
  const { _meta } = result;
  return { ...result, _meta: { ...(isObject(_meta) && _meta), [STRUCTURED]: form } };
}

// If a result has no structured content, Gemini CLI parses its text, and rejects the whole result if the value is not an object.
// Structured content with the parsed value in an object prevents that.
function parseText(block: JsonObject | undefined): unknown {
  const text = block?.['type'] === 'text' ? (block['text'] as string).trim() : '';
  const mayParse = text !== '' && text.length <= 100_000 && '-0123456789"[tfn'.includes(text.charAt(0));
  return mayParse ? tryParse(text) : undefined;
}
