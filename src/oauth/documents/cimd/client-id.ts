import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { DocumentError } from '../document-error.js';

/**
 * The rules for client metadata documents. `mcp` is the profile of the MCP specification, on draft-00: a name is required, the URL
 * has a path, and redirect URIs use https or lead to this computer. `draft-02` is the later draft by itself.
 */
export type ClientDocumentProfile = 'mcp' | 'draft-02';

const MAX_LENGTH = 2048;

/** Whether a client id is meant to be the URL of a client metadata document. Ids that a server makes must not begin like this. */
function isClientUrl(clientId: string): boolean {
  return /^https:\/\//i.test(clientId);
}

/**
 * Checks that a client id is a valid URL of a client metadata document. The string is checked before `new URL` repairs it,
 * because two strings that lead to one document are two clients.
 */
export function checkClientUrl(clientId: string, profile: ClientDocumentProfile): void {
  const refuse = (why: string): DocumentError =>
    new DocumentError(
      'client metadata document',
      'bad_client_id',
      `${displayUrl(clientId)} is not a valid client id: ${why}.`,
    );
  if (clientId.length > MAX_LENGTH) throw refuse(`it has more than ${MAX_LENGTH} characters`);
  if (!isClientUrl(clientId)) throw refuse('it must begin with https://');
  // `new URL` drops or converts all of these.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(clientId))
    throw refuse('it contains a space, a backslash or a character outside of ASCII');
  if (!URL.canParse(clientId)) throw refuse('it is not a URL');
  if (clientId.includes('#')) throw refuse('it contains a fragment');
  const afterScheme = clientId.slice('https://'.length);
  const [authority = ''] = afterScheme.split(/[/?]/, 1);
  if (authority.includes('@')) throw refuse('it contains user information');
  const [path = ''] = afterScheme.slice(authority.length).split('?', 1);
  if (authority === '' || path === '') throw refuse('it has no path');
  if (path === '/' && profile === 'mcp') throw refuse('it has no path');
  const segments = path.split('/').map((segment) => segment.replace(/%2e/gi, '.'));
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw refuse('its path contains dot segments');
}
