// Makes replies smaller: picks fields, and cuts long text.

import { isObject } from '../../jsonrpc/message.js';
import { OpenAPIError } from '../document/openapi-error.js';

/** The fields to keep, as a tree: `items.id` keeps the `id` of each of the `items`. An empty tree keeps everything below it. */
export type FieldTree = ReadonlyMap<string, FieldTree>;

/** Reads paths such as `items.id`. Arrays need no part of their own. */
export function fieldTree(paths: readonly string[]): FieldTree {
  const root = new Map<string, FieldTree>();
  for (const path of paths) {
    const parts = typeof path === 'string' ? path.split('.') : [''];
    if (parts.includes(''))
      throw new OpenAPIError(`"pick" has ${JSON.stringify(path)}; write paths such as "items.id".`);
    let tree = root;
    for (const part of parts) {
      const next = (tree.get(part) ?? new Map()) as Map<string, FieldTree>;
      tree.set(part, next);
      tree = next;
    }
  }
  return root;
}

/** A value with only the fields of the tree. */
export function pickFields(value: unknown, tree: FieldTree): unknown {
  if (tree.size === 0) return value;
  if (Array.isArray(value)) return value.map((item) => pickFields(item, tree));
  if (!isObject(value)) return value;
  const entries = [...tree].filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, pickFields(value[name], inner)]));
}

/** Text of at most `maxChars` characters, with a note at its end if it was longer. */
export function cutText(text: string, maxChars: number | undefined): string {
  if (maxChars === undefined || text.length <= maxChars) return text;
  return `${text.slice(0, maxChars)}\n[Cut: ${maxChars} of ${text.length} characters.]`;
}
