// The names of the draft "Definition Tags" of the transports working group, September 2026.

/** The field of `_meta` with which a client sends the tags that it knows, by method. */
export const KNOWN_TAGS = 'io.modelcontextprotocol/knownTags';
/** The field of `_meta` with which a server names the methods whose results have changed. An error has them in `data.staleTags`. */
export const STALE_TAGS = 'io.modelcontextprotocol/staleTags';

/** The methods whose results have a tag. */
export const taggedMethods = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
] as const;
export type TaggedMethod = (typeof taggedMethods)[number];

/**
 * The calls whose tags are checked, each with the list because of which it may be rejected. A read is never rejected: its URI says all
 * that the list says of it.
 */
export const checkedCalls: ReadonlyMap<string, 'tools/list' | 'prompts/list' | undefined> = new Map([
  ['tools/call', 'tools/list'],
  ['prompts/get', 'prompts/list'],
  ['resources/read', undefined],
]);

/** Whether the result of a method has a tag. */
export function isTagged(method: string): method is TaggedMethod {
  return taggedMethods.some((tagged) => tagged === method);
}
