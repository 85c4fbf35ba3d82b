import { isObject, type JsonObject } from '../jsonrpc/message.js';

// A value that is in a result only as text, because its structured content could not be sent as it is. A mark in `_meta`
// lets a client of ours read it back.

/** The key of the mark; its value says what was done. */
export const STRUCTURED = 'fullmcp/structured';

/** The result without its structured content, if its only text is the same value; else the result. */
export function asPrinted<T extends JsonObject>(result: T): T {
  const { structuredContent, ...rest } = result;
  const [block, ...more] = (result['content'] ?? []) as readonly JsonObject[];
  if (more.length > 0 || block?.['text'] !== JSON.stringify(structuredContent)) return result;
  const { _meta } = result;
  return { ...rest, _meta: { ...(isObject(_meta) && _meta), [STRUCTURED]: 'printed' } } as unknown as T;
}

/** Whether the result says that its value is there only as text. */
export function isPrinted({ _meta, structuredContent }: JsonObject): boolean {
  return structuredContent === undefined && isObject(_meta) && _meta[STRUCTURED] === 'printed';
}

/** The value of a result that says so, from its text; undefined where there is none. */
export function printedValue(result: JsonObject): unknown {
  const { content } = result;
  const text: unknown = isPrinted(result) && Array.isArray(content) && content[0]?.text;
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
