import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { isPrinted, printedValue } from '../../protocol/encoding/printed-value.js';
import { STRUCTURED } from '../../protocol/tables/meta-keys.js';

// Structured content in the session era, and back. Before 2026-07-28 it is an object; today it is any value. The change
// is recorded in `_meta`, so that our own client can undo it.

/** A tool's result whose structured content is an object. */
export function withObject(result: JsonObject): JsonObject {
  const { structuredContent } = result;
  if (structuredContent !== undefined)
    return isObject(structuredContent) ? result : wrap(result, structuredContent, 'wrapped');
  if (isPrinted(result)) return wrap(result, printedValue(result), 'wrapped');
  const value = parseText((result['content'] as JsonObject[])[0]);
  return value === undefined ? result : wrap(result, value, 'parsed');
}

/** A tool's result without structured content, for revisions that know none. Most often it is there as text too. */
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
  const { [STRUCTURED]: how, ...meta } = _meta;
  return {
    ...rest,
    ...(how === 'wrapped' && {
      structuredContent: (structuredContent as JsonObject | undefined)?.['result'],
    }),
    ...(how === 'printed' && {
      structuredContent: parse((rest['content'] as JsonObject[] | undefined)?.[0]?.['text']),
    }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

function wrap(result: JsonObject, value: unknown, how: 'wrapped' | 'parsed'): JsonObject {
  return mark({ ...result, structuredContent: { result: value } }, how);
}

function mark(result: JsonObject, how: 'wrapped' | 'parsed' | 'printed'): JsonObject {
  const { _meta } = result;
  return { ...result, _meta: { ...(isObject(_meta) && _meta), [STRUCTURED]: how } };
}

// Gemini CLI parses a text block without structured content beside it, and rejects the whole result if that gives anything but
// an object. The parsed value in an object keeps it content.
function parseText(block: JsonObject | undefined): unknown {
  const text = block?.['type'] === 'text' ? (block['text'] as string).trim() : '';
  const mayParse = text !== '' && text.length <= 100_000 && '-0123456789"[tfn'.includes(text.charAt(0));
  return mayParse ? parse(text) : undefined;
}

function parse(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
