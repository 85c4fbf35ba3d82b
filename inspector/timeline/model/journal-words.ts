// The values in a journal without the envelopes that every answer and every result has.

import type { JournalRow } from '../../../src/inspector/contract/story.js';
import { isObject } from '../../../src/jsonrpc/message.js';
import { tryParse } from '../../../src/jsonrpc/try-parse.js';

/** The value of a row: what was answered, what a step returned, or the first text of the result. */
export function valueWords({ kind, value = '' }: Pick<JournalRow, 'kind' | 'value'>): string {
  if (kind === 'step') return value;
  // A value that was shortened cannot be read: then it is shown as it is.
  const read = tryParse(value);
  if (!isObject(read)) return value;
  if (kind === 'ask') return answer(read) ?? value;
  const [first] = Array.isArray(read['content']) ? read['content'] : [];
  if (read['structuredContent'] !== undefined) return JSON.stringify(read['structuredContent']);
  return isObject(first) && typeof first['text'] === 'string' ? JSON.stringify(first['text']) : value;
}

function answer({ action, content }: Readonly<Record<string, unknown>>): string | undefined {
  if (action === 'decline') return 'declined';
  if (action === 'cancel') return 'dismissed';
  return action === 'accept' ? (content === undefined ? 'accepted' : JSON.stringify(content)) : undefined;
}
