// Puts the pages of a list on a tape together.

import type { RecordedCall } from '../../testing/recording/recording.js';

/** The methods that return a list in pages, and the name of the list. */
export const PAGED: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
]);

/** The list that a call begins, with the pages that other calls fetched. */
export function wholeList(first: RecordedCall, all: readonly RecordedCall[]): readonly unknown[] {
  const list = PAGED.get(first.method) ?? '';
  const items: unknown[] = [];
  const pages = new Set<RecordedCall>();
  for (let page: RecordedCall | undefined = first; page && !pages.has(page); ) {
    pages.add(page);
    const found: unknown = page.outcome?.[list];
    if (Array.isArray(found)) items.push(...found);
    const cursor: unknown = page.outcome?.['nextCursor'];
    page =
      typeof cursor === 'string'
        ? all.find(({ method, params }) => method === first.method && params['cursor'] === cursor)
        : undefined;
  }
  return items;
}
