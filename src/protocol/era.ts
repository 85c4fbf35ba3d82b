import type { Message } from '../jsonrpc/message.js';
import { declaredVersion } from './meta.js';
import { sessionRevisions } from './tables/features.js';
import { knows } from './tables/methods.js';
import { newestRevision, type Revision } from './tables/revisions.js';

// The two eras of the protocol: sessions before revision 2026-07-28, self-contained requests since.

/**
 * Whether a message is self-contained, as in the modern revisions, or belongs to a session. Decided for each message, not for
 * a connection: real clients send `initialize` after a successful `server/discover`. The HTTP header decides only if the body
 * does not, because some session-era clients send modern headers.
 */
export function isModern(
  message: Message,
  request?: { header(name: string): string | undefined } | undefined,
): boolean {
  if (message.kind === 'result' || message.kind === 'error') return false;
  if (declaredVersion(message.params) !== undefined) return true;
  const headerVersion = request?.header('mcp-protocol-version');
  if (headerVersion !== undefined) return !(sessionRevisions as readonly string[]).includes(headerVersion);
  return message.kind === 'request' && onlyModern(message.method);
}

function onlyModern(method: string): boolean {
  return (
    knows(newestRevision, method) && !sessionRevisions.some((revision: Revision) => knows(revision, method))
  );
}
