import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { STRUCTURED } from '../tables/meta-keys.js';

// A value that a result carries only as text, because its structured content could not be sent as it is. A mark in `_meta`
// lets a fullmcp client read the value back.

/** The `_meta` of a result whose only text is the JSON of its value. */
export const PRINTED: Readonly<JsonObject> = { [STRUCTURED]: 'printed' };

/** Whether a result is marked as carrying its value only as text. */
export function isPrinted({ _meta, structuredContent }: JsonObject): boolean {
  return structuredContent === undefined && isObject(_meta) && _meta[STRUCTURED] === 'printed';
}

/** The value of a marked result, read from its text; undefined for any other result. */
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
