import { isObject, type JsonObject } from './message.js';

/** The value of JSON; undefined if the text is not JSON. For text whose size and depth are limited elsewhere. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object in JSON; undefined if the text is not JSON, or the JSON of something else. */
export function tryParseObject(text: string): JsonObject | undefined {
  const value = tryParse(text);
  return isObject(value) ? value : undefined;
}
