import { isLoopbackUrl } from '../../fetch/check-url.js';
import type { ClientDocumentProfile } from './client-id.js';

const MAX_LENGTH = 2048;

/**
 * The reason why a client may not register a redirect URI, as the rest of a sentence; undefined if it may. The MCP specification
 * allows https, and http on this computer. The drafts also allow a private-use scheme, which has a dot (RFC 8252, section 7.1): the
 * schemes that browsers interpret themselves have none.
 */
export function checkRedirectUri(uri: string, profile: ClientDocumentProfile): string | undefined {
  if (uri.length > MAX_LENGTH) return `has more than ${MAX_LENGTH} characters`;
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(uri) || !URL.canParse(uri)) return 'is not a URL';
  if (uri.includes('#')) return 'contains a fragment';
  const url = new URL(uri);
  // The empty user of "https://@host" is gone after parsing.
  if (url.username !== '' || url.password !== '' || /^[a-z][a-z\d+.-]*:\/\/[^/?]*@/i.test(uri))
    return 'contains user information';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:') return isLoopbackUrl(url) ? undefined : 'uses http for another computer';
  if (profile === 'draft-02' && url.protocol.includes('.')) return undefined;
  return profile === 'mcp'
    ? 'must use https, or http on this computer'
    : 'must use https, http on this computer, or a scheme of the form com.example.app';
}
