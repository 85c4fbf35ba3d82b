// The parameters of `events/subscribe` and `events/unsubscribe`. They are read in steps, in the order in which their errors are reported.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { checkUrl } from '../../../oauth/fetch/check-url.js';
import type { PrivateHosts } from '../../../oauth/fetch/private-hosts.js';
import { quote } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import { eventFailure } from '../../../protocol/event-failures.js';
import type { EventDialect } from '../../../protocol/events/dialects.js';
import { readSecret } from '../../../protocol/events/signature.js';
import { SECRET_BYTES, SECRET_PREFIX } from '../../../protocol/events/wire.js';

/** The delivery of a subscription, as a client asks for it. */
export interface RequestedDelivery {
  readonly url: string;
  readonly secret: string;
}

/** The start and the lifetime of a subscription, as a client asks for them. */
export interface RequestedTimes {
  /** The position after which events are wanted; null for the events from now on. */
  readonly cursor: string | null;
  /** The lifetime; null for one without an end, undefined for the default. */
  readonly ttlMs: number | null | undefined;
  /** The age of the oldest event that is wanted. */
  readonly maxAgeMs: number | undefined;
}

/** Reads the name of the type. */
export function readName({ name }: JsonObject): string {
  if (typeof name !== 'string' || name === '') throw wrong('params.name must be the name of an event type');
  return name;
}

/** Reads the arguments as they were sent. */
export function readArguments({ arguments: args = {} }: JsonObject): JsonObject {
  if (!isObject(args)) throw wrong('params.arguments must be an object');
  return args;
}

/** Reads the delivery of a subscription. */
export function readDelivery(
  params: JsonObject,
  { dialect, privateHosts }: { readonly dialect: EventDialect; readonly privateHosts: PrivateHosts },
): RequestedDelivery {
  const delivery = deliveryOf(params, dialect);
  const url = checkedUrl(delivery['url'], privateHosts);
  const { secret } = delivery;
  if (readSecret(secret) === undefined)
    throw wrong(
      `params.delivery.secret must be "${SECRET_PREFIX}" and base64 of ${SECRET_BYTES.min} to ${SECRET_BYTES.max} random bytes`,
    );
  return { url, secret: secret as string };
}

/** Reads the address of a subscription that is to end. */
export function readUrl(params: JsonObject, dialect: EventDialect): string {
  const { url } = deliveryOf(params, dialect);
  if (typeof url !== 'string') throw wrong('params.delivery.url must be a string');
  return url;
}

/** Reads the start and the lifetime. No lifetime is rejected: what is granted is in the result. */
export function readTimes({ cursor = null, ttlMs, maxAgeMs }: JsonObject): RequestedTimes {
  if (cursor !== null && typeof cursor !== 'string') throw wrong('params.cursor must be a string or null');
  if (ttlMs !== undefined && ttlMs !== null && !isTime(ttlMs))
    throw wrong('params.ttlMs must be a number of milliseconds or null');
  if (maxAgeMs !== undefined && maxAgeMs !== null && !isTime(maxAgeMs))
    throw wrong('params.maxAgeMs must be a number of milliseconds');
  return {
    cursor,
    ttlMs: ttlMs as number | null | undefined,
    maxAgeMs: (maxAgeMs as number | null) ?? undefined,
  };
}

function deliveryOf({ delivery }: JsonObject, dialect: EventDialect): JsonObject {
  if (!isObject(delivery)) throw wrong('params.delivery must be an object with a url');
  const { mode = 'webhook' } = delivery;
  if (mode !== 'webhook')
    throw eventFailure(
      'unsupported',
      `events/subscribe delivers to webhooks only, not by ${quote(String(mode), 40)}`,
      { dialect, data: { feature: 'deliveryMode', value: typeof mode === 'string' ? mode : null } },
    );
  return delivery;
}

/** The messages do not repeat the URL, whose query may be a secret. */
function checkedUrl(url: unknown, privateHosts: PrivateHosts): string {
  if (typeof url !== 'string') throw wrong('params.delivery.url must be a string');
  if (url.includes('#')) throw wrong('params.delivery.url must not have a fragment');
  try {
    checkUrl(url, { loopback: false, privateHosts });
  } catch (cause) {
    throw wrong('params.delivery.url must be an https URL of a public host, without a user name', cause);
  }
  return url;
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

function wrong(message: string, cause?: unknown): McpError {
  return new McpError('invalid_params', message, { cause });
}
