// The checks of a request: it must come from this computer, and from a page that the inspector itself has served.

import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { kindOfAddress } from '../../oauth/fetch/addresses.js';

/** The names of this computer in a `Host` header. Any other name may be that of an attacker who lets it point here. */
const OWN_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/** Headers that a reverse proxy adds. The peer of one is not the user, whatever its address is. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

export interface Refusal {
  readonly status: number;
  /** For the person who reads it: what is wrong, and what to do. */
  readonly message: string;
}

export function isEncrypted({ socket }: IncomingMessage): boolean {
  return (socket as TLSSocket).encrypted === true;
}

/** The port that the request came in on. */
export function ownPort({ socket }: IncomingMessage): number {
  return socket.localPort ?? 0;
}

/** The origins of the page that the inspector serves on this port. */
export function ownOrigins(req: IncomingMessage): readonly string[] {
  const [scheme, usual] = isEncrypted(req) ? ['https', 443] : ['http', 80];
  const port = ownPort(req);
  return OWN_NAMES.map((name) => `${scheme}://${name}${port === usual ? '' : `:${port}`}`);
}

/** Refuses peers of other computers, and requests for other hosts: a name that an attacker points at this computer is not one of ours. */
export function refusePeer(req: IncomingMessage): Refusal | undefined {
  const { socket, headers } = req;
  const isNear = kindOfAddress(socket.remoteAddress ?? '') === 'loopback';
  if (!isNear || FORWARDED.some((name) => headers[name] !== undefined))
    return {
      status: 403,
      message:
        'The inspector serves only this computer, without a proxy in between. Open it on the computer that it runs on.',
    };
  const origins = ownOrigins(req).map((origin) => origin.slice(origin.indexOf('//') + 2));
  if (origins.includes((headers.host ?? '').toLowerCase())) return undefined;
  return {
    status: 403,
    message: `The inspector answers only as localhost or 127.0.0.1 with its own port, ${ownPort(req)}. If you forward a port, use the same number at both ends.`,
  };
}

/** Refuses WebSockets: the inspector has none, and browsers let any page open one. */
export function refuseUpgrade({ headers }: IncomingMessage): Refusal | undefined {
  if (headers.upgrade === undefined) return undefined;
  return { status: 403, message: 'The inspector has no WebSocket.' };
}

/** Refuses requests that another page makes. A request that changes something must say that the page is ours. */
export function refuseOtherPages(req: IncomingMessage): Refusal | undefined {
  const { origin, 'sec-fetch-site': site } = req.headers;
  const isOwnOrigin = origin !== undefined && ownOrigins(req).includes(origin.toLowerCase());
  const isOwnSite = site === 'same-origin' || (site === 'none' && req.method === 'GET');
  const isForeign = (origin !== undefined && !isOwnOrigin) || (site !== undefined && !isOwnSite);
  const mustSay = req.method !== 'GET' && req.method !== 'HEAD';
  if (!isForeign && (!mustSay || isOwnOrigin || isOwnSite)) return undefined;
  return {
    status: 403,
    message: 'Only the page of the inspector may do this, and this request is from elsewhere.',
  };
}
