// The values in a journal without the envelopes that every answer and every result has.

import type { JournalRow } from '../../../src/inspector/contract/story.js';

/** The value of a row: what was answered, what a step returned, or the first text of the result. */
export function valueWords({ kind, value = '' }: Pick<JournalRow, 'kind' | 'value'>): string {
  if (kind === 'step') return value;
  const read = parsed(value);
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

/** A value that was shortened cannot be read: then it is shown as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
