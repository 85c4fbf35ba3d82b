// The value that a program gets for the outcome of a call.

import { isObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { isPrinted } from '../../protocol/encoding/printed-value.js';

/** The end of a call, as it is kept: the value as JSON, or the failure. */
export type CallEnd = { readonly json: string } | { readonly error: string; readonly code: string };

/** The longest value, in characters of JSON. */
const MAX_VALUE = 1_000_000;
const MAX_ERROR = 4000;

/** Reads an outcome that is complete: the structured content, or else the text, which may be JSON. */
export function endOf(name: string, outcome: Outcome): CallEnd {
  const { content, structuredContent, isError } = outcome;
  if (isError === true)
    return failed(textOf(content) ?? 'The tool failed and did not say why.', 'tool_failed');
  const json = structuredContent === undefined ? jsonOf(outcome) : JSON.stringify(structuredContent);
  if (json.length <= MAX_VALUE) return { json };
  return failed(
    `The result of ${name} has ${json.length} characters, more than ${MAX_VALUE}. Ask for less, or in pages.`,
    'result_too_large',
  );
}

/** A call that has failed. */
export function failed(message: string, code: string): CallEnd {
  return { error: message.slice(0, MAX_ERROR), code };
}

function jsonOf(outcome: Outcome): string {
  const { content } = outcome;
  if (!Array.isArray(content) || content.length === 0) return 'null';
  const text = textOf(content);
  if (text === undefined) return JSON.stringify(content);
  // Tools of other libraries print their values, and so do ours if a value is not an object.
  if (!isPrinted(outcome) && !/^\s*[[{]/.test(text)) return JSON.stringify(text);
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return JSON.stringify(text);
  }
}

/** The text of content that is nothing but text. */
function textOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((block: unknown) =>
    isObject(block) && typeof block['text'] === 'string' ? block['text'] : undefined,
  );
  return texts.includes(undefined) ? undefined : texts.join('\n');
}
