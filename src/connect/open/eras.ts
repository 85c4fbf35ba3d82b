// Eras of servers: opening a link of any era, and what a failure says about the era.

import { McpError } from '../../protocol/errors.js';
import type { Link, LinkEvents, OpenOptions } from '../../protocol/link.js';
import { has } from '../../protocol/tables/features.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { HttpCarrier } from '../../transports/http/client/carrier.js';
import type { HttpLinkOptions } from '../../transports/http/client/options.js';
import type { Era, KnownServer } from '../targets/known-servers.js';

/** Opens a link to a server of any era. Rejects with an `McpError`; then nothing is left open. */
export type OpenAnyEra = (events: LinkEvents, options: EraOptions) => Promise<Link>;

export interface EraOptions extends OpenOptions {
  /** The facts known about the server; only its era is tried. */
  readonly known?: KnownServer | undefined;
  /** The only revision to accept. */
  readonly revision?: Revision | undefined;
}

/** The parts of a link over HTTP, whatever its era. */
export interface EraParts {
  readonly events: LinkEvents;
  readonly open: EraOptions;
  readonly http: HttpLinkOptions;
  readonly carrier: HttpCarrier;
}

/** The era of an open link. */
export function eraOfLink({ transport, revision }: Pick<Link, 'transport' | 'revision'>): Era {
  return transport === 'http+sse' ? 'http+sse' : eraOf(revision);
}

export function eraOf(revision: Revision): Era {
  return has(revision, 'handshake') ? 'session' : 'modern';
}

/** Returns a link of the required revision. Closes a link of any other revision, and throws. */
export async function requireRevision(link: Link, revision: Revision | undefined): Promise<Link> {
  if (revision === undefined || link.revision === revision) return link;
  await link.close();
  throw new McpError(
    'unsupported_version',
    `The server speaks ${link.revision}, but the option \`revision\` requires ${revision}.`,
    { data: { supported: [link.revision], requested: revision } },
  );
}

/** Whether a failure shows that the server is not of the era that was assumed. */
export function showsOtherEra(error: unknown): boolean {
  if (!McpError.is(error)) return false;
  return error.number !== undefined || error.code === 'bad_response' || isRefused(error);
}

const STATUSES_OF_ANY_ERA = [401, 403, 407, 408, 429];

/** Whether the status says that the server does not accept requests of this era. */
export function isRefused({ code, status }: McpError): boolean {
  return (
    status >= 400 &&
    status < 500 &&
    !STATUSES_OF_ANY_ERA.includes(status) &&
    code !== 'unauthorized' &&
    code !== 'forbidden'
  );
}
