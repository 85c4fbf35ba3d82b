import { isObject, type JsonObject } from '../jsonrpc/message.js';

// Structured content in the session era, and back. Before 2026-07-28 it is an object; today it is any value. What was
// changed is said in `_meta`, for a client of ours to take back.

const STRUCTURED = 'fullmcp/structured';

/** A tool's result whose structured content is an object. */
export function withObject(result: JsonObject): JsonObject {
  const { structuredContent } = result;
  if (structuredContent !== undefined)
    return isObject(structuredContent) ? result : wrapped(result, structuredContent, 'wrapped');
  const value = parsed((result['content'] as JsonObject[])[0]);
  return value === undefined ? result : wrapped(result, value, 'parsed');
}

/** The result as it was before `withObject`. */
export function withoutObject(result: JsonObject): JsonObject {
  const { structuredContent, _meta, ...rest } = result;
  if (!isObject(_meta) || !Object.hasOwn(_meta, STRUCTURED)) return result;
  const { [STRUCTURED]: how, ...meta } = _meta;
  return {
    ...rest,
    ...(how === 'wrapped' && {
      structuredContent: (structuredContent as JsonObject | undefined)?.['result'],
    }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

function wrapped(result: JsonObject, value: unknown, how: 'wrapped' | 'parsed'): JsonObject {
  const { _meta } = result;
  return {
    ...result,
    structuredContent: { result: value },
    _meta: { ...(isObject(_meta) && _meta), [STRUCTURED]: how },
  };
}

// Gemini CLI parses a text without structured content beside it, and rejects the whole result if that gives anything but
// an object. The parsed value in an object keeps it content.
function parsed(block: JsonObject | undefined): unknown {
  const text = block?.['type'] === 'text' ? (block['text'] as string).trim() : '';
  if (text === '' || text.length > 100_000 || !'-0123456789"[tfn'.includes(text.charAt(0))) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
