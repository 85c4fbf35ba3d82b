// The operator of a server: asks it to emit an event, for the deliveries of its webhooks, and to send events again.

import type { Client } from '../../client/model/client.js';
import type { CallOptions } from '../../client/model/options.js';
import type { Emitted, WebhookDeliveries } from '../../index.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { operatorMethods } from './operator-methods.js';

/** Pages of a list. A server that has more of them never ends. */
const MAX_PAGES = 10_000;

/** The operator of a server, over a connection to it. */
export interface EventOperator {
  /** Emits an event. */
  readonly emit: (
    event: { readonly name: string; readonly data: JsonObject; readonly eventId?: string | undefined },
    options?: CallOptions,
  ) => Promise<Emitted>;
  /** The subscriptions of webhooks, or the one with an id, with the events that could not be delivered. */
  readonly deliveries: (
    subscription?: string,
    options?: CallOptions,
  ) => AsyncGenerator<WebhookDeliveries, void, undefined>;
  /** Sends events that were given up again: one, or all of a subscription. Returns their number. */
  readonly redeliver: (
    subscription: string,
    eventId?: string | undefined,
    options?: CallOptions,
  ) => Promise<number>;
}

/** Whether an error says that the server does not answer an operator: it runs elsewhere, or was not started for this. */
export function isNotOperated(error: unknown): boolean {
  return McpError.is(error) && error.code === 'method_not_found';
}

/** The operator of the server that a client is connected to. */
export function operatorOf({ request }: Pick<Client, 'request'>): EventOperator {
  async function* deliveries(
    subscription?: string,
    options?: CallOptions,
  ): AsyncGenerator<WebhookDeliveries, void, undefined> {
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = { ...(subscription !== undefined && { subscription }), ...(cursor && { cursor }) };
      const outcome = await request(operatorMethods.deliveries, params, options);
      yield* list(outcome['subscriptions']).map(readDeliveries);
      if (typeof outcome['cursor'] !== 'string' || outcome['cursor'] === '') return;
      cursor = outcome['cursor'];
    }
  }
  return {
    async emit({ name, data, eventId }, options) {
      const params = { name, data, ...(eventId !== undefined && { eventId }) };
      const outcome = await request(operatorMethods.emit, params, options);
      return { eventId: string(outcome, 'eventId'), isNew: outcome['isNew'] !== false };
    },
    deliveries,
    async redeliver(subscription, eventId, options) {
      const params = { subscription, ...(eventId !== undefined && { eventId }) };
      const { count } = await request(operatorMethods.redeliver, params, options);
      return typeof count === 'number' ? count : 0;
    },
  };
}

// Any program may be at an address, so the answers are read as those of a stranger.

const STATES: readonly WebhookDeliveries['status'][] = ['active', 'suspended', 'ending'];

function readDeliveries(value: JsonObject): WebhookDeliveries {
  return {
    subscription: string(value, 'subscription'),
    name: string(value, 'name'),
    url: string(value, 'url'),
    subject: string(value, 'subject'),
    status: STATES.find((state) => state === value['status']) ?? 'active',
    lastDeliveryAt: optional(value, 'lastDeliveryAt'),
    lastError: optional(value, 'lastError'),
    retrying: list(value['retrying']).map((event) => ({
      eventId: string(event, 'eventId'),
      attempts: count(event),
      nextAttemptAt: string(event, 'nextAttemptAt'),
    })),
    dead: list(value['dead']).map((event) => ({
      eventId: string(event, 'eventId'),
      reason: string(event, 'reason'),
      attempts: count(event),
      at: string(event, 'at'),
    })),
  };
}

function list(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function string(value: JsonObject, name: string): string {
  return optional(value, name) ?? '';
}

function optional(value: JsonObject, name: string): string | undefined {
  const found = value[name];
  return typeof found === 'string' ? found : undefined;
}

function count({ attempts }: JsonObject): number {
  return typeof attempts === 'number' ? attempts : 0;
}
