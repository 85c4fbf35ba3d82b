// The messages of a link besides plain JSON-RPC: their headers.

import type { NatsHeaders } from '../connection/nats-types.js';

/** The header that says what a message of a link is. A message without it is one of JSON-RPC. */
const KIND = 'Mcp-Link';
const PART = 'Mcp-Part';

/**
 * - `accepted`: an instance works on the call; the reply subject of the message is that of the instance.
 * - `cancel`: the client has cancelled the call that has this reply subject.
 * - `beat`: the client is alive, and asks the same; the response has the ids of its open calls.
 * - `part`: a part of a message that is larger than NATS accepts.
 */
export type FrameKind = 'accepted' | 'cancel' | 'beat' | 'part';

/** The place of a part among all parts of its message, from 0. */
export interface PartPlace {
  readonly at: number;
  readonly count: number;
}

/** Sets the kind of a message. */
export function withKind(headers: NatsHeaders, kind: FrameKind, place?: PartPlace): NatsHeaders {
  headers.set(KIND, kind);
  if (place !== undefined) headers.set(PART, `${place.at}/${place.count}`);
  return headers;
}

/** The kind of a message: undefined for JSON-RPC, `unknown` for one of a later version. */
export function kindOf(headers: NatsHeaders | undefined): FrameKind | 'unknown' | undefined {
  const kind = headers?.get(KIND);
  if (!kind) return undefined;
  return kinds.has(kind) ? (kind as FrameKind) : 'unknown';
}

const kinds: ReadonlySet<string> = new Set<FrameKind>(['accepted', 'cancel', 'beat', 'part']);

/** The place of a part; undefined if it cannot be read. */
export function placeOf(headers: NatsHeaders | undefined): PartPlace | undefined {
  const [, at, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(headers?.get(PART) ?? '') ?? [];
  if (at === undefined || Number(at) >= Number(count)) return undefined;
  return { at: Number(at), count: Number(count) };
}

/** NATS' own headers for errors of services. */
export const SERVICE_ERROR = 'Nats-Service-Error';
export const SERVICE_ERROR_CODE = 'Nats-Service-Error-Code';
/** The status with which NATS answers a request that nobody listens to. */
export const NO_RESPONDERS = 503;
