// The names of the draft "Definition Digests" of the transports working group, September 2026.

/** The field of `_meta` with which a client sends the digests of the lists that it knows. */
export const KNOWN_DIGESTS = 'io.modelcontextprotocol/knownDigests';
/** The field of `_meta`, and of an error's data without its prefix, with which a server names lists that have changed. */
export const STALE_DIGESTS = 'io.modelcontextprotocol/staleDigests';

/** The methods that are checked, with the list that their names come from. */
export const digestLists: ReadonlyMap<string, 'tools/list' | 'prompts/list'> = new Map([
  ['tools/call', 'tools/list'],
  ['prompts/get', 'prompts/list'],
]);
