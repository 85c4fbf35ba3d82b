/**
 * Reads an address that a peer sends for a browser to open; undefined if it does not lead to the web. A browser or a page that opens
 * `javascript:`, `data:`, `file:` or the scheme of another program does what the peer wants, so that only `https:` and `http:` are left.
 * The host of the URL is ASCII: no character can pass for another, and none can hide.
 */
export function webUrl(address: unknown): URL | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}
