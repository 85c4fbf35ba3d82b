// The subscriptions of a receiver, and the ids that it has confirmed, in its store.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { tryParse, tryParseObject } from '../../../jsonrpc/try-parse.js';
import { canonical } from '../../../protocol/canonical.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';
import { sha256 } from '../../../protocol/encoding/sha256.js';
import { boundedKey } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import type { EventStore } from '../../model/events.js';

/** A subscription of this receiver. */
export interface WebhookRecord {
  readonly server: string;
  readonly name: string;
  readonly args: JsonObject;
  /** The whole address, with the parameter that names the subscription. */
  readonly url: string;
  /** The secrets, the newest first. */
  readonly secrets: readonly string[];
  /** The end of the older secrets, in milliseconds since 1970. */
  readonly previousUntil: number;
  /** The id that the server gave the subscription; null until it has answered. */
  readonly id: string | null;
  /** The time after which the server sends nothing any more, in milliseconds since 1970; null if there is none. */
  readonly refreshBefore: number | null;
  /** The position up to which everything was confirmed or given up. */
  readonly cursor: string | null;
}

/** The parameter of the address that names a subscription: the receiver knows it before the server has given it an id. */
export const REF_PARAM = 'mcp_event_subscription';
const REF = /^[A-Za-z0-9_-]{22}$/;
/** The ids of confirmed messages that are remembered for each subscription. */
const MAX_IDS = 500;
/** The attempts to change a value that other processes change as well. */
const MAX_ATTEMPTS = 50;

/** The name of a subscription: the same in every process and every run. */
export function refOf(of: {
  readonly server: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly url: string;
}): string {
  const { server, name, args, url } = of;
  const digest = sha256(new TextEncoder().encode(canonical([server, name, args, url])));
  return encodeBase64Url(digest.subarray(0, 16));
}

/** The name of a subscription in the query of a request; undefined if there is none. */
export function refIn(query: string): string | undefined {
  const ref = new URLSearchParams(query).get(REF_PARAM);
  return ref !== null && REF.test(ref) ? ref : undefined;
}

/** The subscriptions of a receiver. */
export class WebhookRecords {
  readonly #store: EventStore;

  constructor(store: EventStore) {
    this.#store = store;
  }

  async get(ref: string): Promise<WebhookRecord | undefined> {
    return toRecord(await this.#store.get(keyOf(ref)));
  }

  /**
   * Changes a subscription, whatever other processes change at the same time. `change` gets the current one, and returns the new one;
   * undefined leaves it as it is. Resolves with what is stored afterwards.
   */
  async change(
    ref: string,
    change: (current: WebhookRecord | undefined) => WebhookRecord | undefined,
  ): Promise<WebhookRecord | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const text = await this.#store.get(keyOf(ref));
      const current = toRecord(text);
      const next = change(current);
      if (next === undefined) return current;
      if (await this.#store.set(keyOf(ref), JSON.stringify(next), { expected: text ?? null })) return next;
    }
    throw busy();
  }

  async delete(ref: string): Promise<void> {
    await this.#store.delete(keyOf(ref));
    await this.#store.delete(idsKeyOf(ref));
  }

  /** Whether a message was confirmed before. */
  async isConfirmed(ref: string, id: string): Promise<boolean> {
    return toIds(await this.#store.get(idsKeyOf(ref))).includes(boundedKey(id));
  }

  /** Remembers that a message was confirmed. */
  async confirm(ref: string, id: string): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const text = await this.#store.get(idsKeyOf(ref));
      const ids = [...toIds(text), boundedKey(id)].slice(-MAX_IDS);
      if (await this.#store.set(idsKeyOf(ref), JSON.stringify(ids), { expected: text ?? null })) return;
    }
    throw busy();
  }
}

function keyOf(ref: string): string {
  return `webhook ${ref}`;
}

function idsKeyOf(ref: string): string {
  return `webhook-ids ${ref}`;
}

function busy(): McpError {
  return new McpError('overloaded', 'Too many processes change the same subscription at the same time');
}

function toIds(text: string | undefined): readonly unknown[] {
  const value = text === undefined ? [] : tryParse(text);
  return Array.isArray(value) ? value : [];
}

/** A record that another version wrote in another form is not used. */
function toRecord(text: string | undefined): WebhookRecord | undefined {
  const value = text === undefined ? undefined : tryParseObject(text);
  const isUsable =
    value !== undefined &&
    ['server', 'name', 'url'].every((field) => typeof value[field] === 'string') &&
    isObject(value['args']) &&
    Array.isArray(value['secrets']) &&
    typeof value['previousUntil'] === 'number';
  return isUsable ? (value as unknown as WebhookRecord) : undefined;
}
