// The server's own words about single arguments, beside their fields.

import type { Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { fieldsOf } from '../../../src/schema/read/across-branches.js';

const MAX_PARTS = 50;
const MAX_TEXT = 4000;

/** By JSON pointer. Only what is written as `name: sentence`, with the name of an argument, is taken. */
export function serverWords(story: Story | undefined, schema: JsonObject): ReadonlyMap<string, string> {
  const text = storyText(story).slice(0, MAX_TEXT);
  const names = new Set(fieldsOf(schema, schema).map(({ name }) => name));
  const words = new Map<string, string>();
  for (const line of text.split('\n', MAX_PARTS))
    for (const part of line.split(/; |\. /, MAX_PARTS)) {
      const at = part.indexOf(': ');
      const path = pathOf(part.slice(0, Math.max(0, at)).trim());
      const [first] = path;
      if (at > 0 && first !== undefined && names.has(first))
        words.set(path.map((each) => `/${each}`).join(''), part.slice(at + 2).trim());
    }
  return words;
}

function storyText(story: Story | undefined): string {
  if (story?.state === 'error') return story.error?.message ?? '';
  if (story?.state !== 'tool-error') return '';
  const content = story.outcome?.['content'];
  const [first] = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const text = typeof first === 'object' && first !== null ? (first as JsonObject)['text'] : undefined;
  return typeof text === 'string' ? text : '';
}

/** `lines[0].sku`, `lines.0.sku` and `/lines/0/sku` are the same. */
function pathOf(text: string): readonly string[] {
  if (text.length > 200 || text.includes(' ')) return [];
  return text.split(/[.[\]/]/).filter(Boolean);
}
