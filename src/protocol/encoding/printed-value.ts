import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { STRUCTURED } from '../tables/meta-keys.js';

// A value that is in a result only as text, because its structured content could not be sent as it is. A mark in `_meta`
// lets a client of ours read it back.

/** What `_meta` says of a result whose only text is the JSON of its value. */
export const PRINTED: Readonly<JsonObject> = { [STRUCTURED]: 'printed' };

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
