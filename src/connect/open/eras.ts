import { McpError } from '../../protocol/errors.js';
import type { Link, LinkEvents, OpenOptions } from '../../protocol/link.js';
import { has } from '../../protocol/tables/features.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { Era, KnownServer } from '../targets/known-servers.js';

/** A way to a server, of whatever era. Opens a link, or rejects and leaves nothing open. */
export type Way = (parts: WayParts) => Promise<Opened>;

export interface WayParts {
  readonly events: LinkEvents;
  readonly open: OpenOptions;
  /** Only this is tried. */
  readonly known?: KnownServer | undefined;
  /** Insisted on. */
  readonly revision?: Revision | undefined;
}

export interface Opened {
  readonly link: Link;
  readonly era: Era;
}

export function eraOf(revision: Revision): Era {
  return has(revision, 'handshake') ? 'session' : 'modern';
}

/** A handshake may end with another revision than was asked for. */
export async function insist(opened: Opened, revision: Revision | undefined): Promise<Opened> {
  const { link } = opened;
  if (revision === undefined || link.revision === revision) return opened;
  await link.close();
  throw new McpError(
    'unsupported_version',
    `The server speaks ${link.revision}, and ${revision} was insisted on (option \`revision\`).`,
    { data: { supported: [link.revision], requested: revision } },
  );
}

/** Whether a failure says that the server is of another era than was thought. */
export function saysOtherEra(error: unknown): boolean {
  if (!McpError.is(error)) return false;
  return error.number !== undefined || error.code === 'bad_response' || wasRefused(error);
}

const REFUSED_FOR_OTHER_REASONS = [401, 403, 407, 408, 429];

/** A status that says that this is not how the server is asked. */
export function wasRefused({ code, status }: McpError): boolean {
  return (
    status >= 400 &&
    status < 500 &&
    !REFUSED_FOR_OTHER_REASONS.includes(status) &&
    code !== 'unauthorized' &&
    code !== 'forbidden'
  );
}
