// A subscription as it is kept: its head, which requests write, and its progress, which deliveries write.

import type { JsonObject } from '../../../../jsonrpc/message.js';
import type { Auth } from '../../../../protocol/call.js';
import type { EventDialect } from '../../../../protocol/events/dialects.js';
import type { CallbackReason, WebhookEnvelope } from '../../../../protocol/events/wire.js';
import type { StoreEntry } from '../../../../state/store.js';
import type { LogPosition } from '../../log/positions.js';

/** A secret, sealed if the server has secrets of its own. */
export interface KeptSecret {
  readonly sealed: string;
  /** The time until which messages are signed with a secret that was replaced, in milliseconds since 1970. */
  readonly until?: number;
}

/** The entry of a subscription. */
export interface SubscriptionHead {
  readonly id: string;
  readonly name: string;
  /** The arguments as they were sent. */
  readonly args: JsonObject;
  readonly url: string;
  /**
   * The state: it is being made, it lasts until it expires, its receiver is to be told that it has ended, or its entries are being removed.
   */
  readonly status: 'starting' | 'active' | 'terminating' | 'ending';
  /** Tells this subscription from an earlier one with the same key. */
  readonly birth: string;
  readonly auth: Auth;
  readonly dialect: EventDialect;
  /** The newest first. */
  readonly secrets: readonly KeptSecret[];
  readonly createdAt: number;
  readonly ttlMs: number;
  /** The number of refreshes. A subscription that was suspended continues with the next one. */
  readonly refreshes: number;
  /** When the receiver has shown that it wants webhooks. */
  readonly verifiedAt: number;
  /** The digest of the schemas that the type had. */
  readonly schemas: string;
  /** The reason of the end, for the receiver. */
  readonly error?: TerminationError;
}

/** The error in the last message of a subscription. */
export type TerminationError = Extract<WebhookEnvelope, { type: 'terminated' }>['error'];

/** A message that is sent again. */
export interface OpenMessage {
  /** The header `webhook-id`. */
  readonly id: string;
  readonly what: /** The event after a position. */
    | { readonly is: 'event'; readonly before: LogPosition }
    /** An event that an operator sends again, by its key. */
    | { readonly is: 'dead'; readonly key: string }
    | { readonly is: 'gap'; readonly cursor: string }
    | { readonly is: 'terminated'; readonly error: TerminationError };
  readonly failures: number;
  /** In milliseconds since 1970. */
  readonly dueAt: number;
}

/** How far the deliveries of a subscription are. */
export interface DeliveryProgress {
  /** Everything up to here was sent once. */
  readonly position: LogPosition;
  /** Whether the subscriber knows that events before the position may be missing. */
  readonly toldOfGap?: boolean;
  readonly open: readonly OpenMessage[];
  /** The keys of the events that were given up, the oldest first. */
  readonly dead: readonly string[];
  readonly lastDeliveryAt?: number;
  readonly lastError?: CallbackReason;
  readonly failedSince?: number;
  /** The attempts since a time, and those of them that failed. */
  readonly sample: { readonly since: number; readonly attempts: number; readonly failures: number };
  /** The number of replies in a row that say that the receiver is gone. */
  readonly gone: number;
  /** The number of refreshes at which the deliveries were suspended. */
  readonly suspendedAt?: number;
  /** Since when no process has a fitting type. */
  readonly misfitSince?: number;
}

/** The entry that is there while something may have to be delivered. */
export interface News {
  /** The group of the type. */
  readonly type: string;
  /** Events that the subscription wants may be between these positions. */
  readonly range?: { readonly from: LogPosition; readonly to: LogPosition };
  /** The keys of the events that an operator sends again. */
  readonly resend?: readonly string[];
}

/** A head as it was read. */
export interface StoredSubscription {
  readonly head: SubscriptionHead;
  readonly version: string;
  /** The time until it expires, by the clock of the store. */
  readonly remainingMs: number;
}

/** The entries stay for this long after the end of a subscription, so that the process that removes them finds them. */
export const GRACE_MS: number = 7 * 24 * 3_600_000;

/** Reads a head. */
export function readHead({ value, version, expiresInMs = GRACE_MS }: StoreEntry): StoredSubscription {
  return { head: value as unknown as SubscriptionHead, version, remainingMs: expiresInMs - GRACE_MS };
}

/** Whether a subscription lasts: it is neither over, nor still being made. */
export function isLive({ head, remainingMs }: StoredSubscription): boolean {
  return head.status === 'active' && remainingMs > 0;
}

/** DeliveryProgress from a position on. */
export function newProgress(position: LogPosition, toldOfGap: boolean): DeliveryProgress {
  return {
    position,
    ...(toldOfGap && { toldOfGap }),
    open: [],
    dead: [],
    sample: { since: Date.now(), attempts: 0, failures: 0 },
    gone: 0,
  };
}

/** Whether deliveries are suspended. */
export function isSuspended({ refreshes }: SubscriptionHead, { suspendedAt }: DeliveryProgress): boolean {
  return suspendedAt !== undefined && suspendedAt >= refreshes;
}
