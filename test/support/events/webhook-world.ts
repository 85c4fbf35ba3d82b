import { nodeSafeFetch } from '../../../src/adapters/node/fetch/node-safe-fetch.js';
import { type EventHistory, eventHistory } from '../../../src/extensions/events/log/event-history.js';
import type { WebhookTimes } from '../../../src/extensions/events/webhooks/limits.js';
import { digestOfSchemas } from '../../../src/extensions/events/webhooks/schema-change.js';
import type { WebhookType } from '../../../src/extensions/events/webhooks/types.js';
import { type Webhooks, webhooks } from '../../../src/extensions/events/webhooks/webhooks.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import type { SafeFetch } from '../../../src/oauth/fetch/safe-fetch.js';
import type { Auth, Call } from '../../../src/protocol/call.js';
import { eventFailure } from '../../../src/protocol/event-failures.js';
import type { EventDialect } from '../../../src/protocol/events/dialects.js';
import type { WebhookOptions } from '../../../src/server/define/webhook-options.js';
import { memoryStore } from '../../../src/state/memory/store.js';
import type { Store } from '../../../src/state/store.js';

/** A type of events in a world. Subscribers filter by `queue`. */
interface TypeInit {
  readonly inputSchema?: JsonObject;
  readonly payloadSchema?: JsonObject;
  readonly admits?: WebhookType['admits'];
  readonly matches?: WebhookType['matches'];
}

/** The parts of a world. */
export interface WorldInit {
  readonly store?: Store;
  readonly types?: Record<string, TypeInit>;
  readonly options?: WebhookOptions;
  readonly secrets?: readonly string[];
  readonly times?: Partial<WebhookTimes>;
  readonly fetch?: SafeFetch;
  readonly leaseMs?: number;
  readonly retentionMs?: number;
}

/** A process that has webhooks, with its log and its types, and without a server around it. */
export interface WebhookWorld {
  readonly hooks: Webhooks;
  readonly store: Store;
  readonly types: Record<string, TypeInit>;
  readonly history: (name?: string) => Promise<EventHistory>;
  readonly emit: (data: JsonObject, eventId?: string, name?: string) => Promise<void>;
  readonly subscribe: (caller: string, params: JsonObject, dialect?: EventDialect) => Promise<Subscribed>;
  readonly unsubscribe: (caller: string, params: JsonObject, dialect?: EventDialect) => Promise<JsonObject>;
  /** Everything that was logged, with its details. */
  readonly log: string[];
  readonly close: (drainMs?: number) => Promise<void>;
}

interface Subscribed extends JsonObject {
  readonly id: string;
  readonly refreshBefore: string;
  readonly cursor: string;
  readonly truncated: boolean;
}

const DAY_MS = 86_400_000;

function authOf(subject: string): Auth {
  return { subject, scopes: [], claims: {} };
}

/** Starts a world. Without a store, it has one in memory. */
export async function startWorld(init: WorldInit = {}): Promise<WebhookWorld> {
  const {
    store = memoryStore(),
    types = { ticket: {} },
    options = {},
    secrets,
    times,
    retentionMs = DAY_MS,
  } = init;
  const server = 'tickets';
  const log: string[] = [];
  const histories = new Map<string, Promise<EventHistory>>();
  const history = (name = 'ticket'): Promise<EventHistory> => {
    const known = histories.get(name) ?? eventHistory(store, { server, name }, { retentionMs });
    histories.set(name, known);
    return known;
  };
  async function find(name: string): Promise<WebhookType | undefined> {
    const type = types[name];
    if (type === undefined) return undefined;
    const schemas = {
      inputSchema: type.inputSchema ?? { type: 'object', properties: { queue: { type: 'string' } } },
      payloadSchema: type.payloadSchema ?? { type: 'object', properties: { queue: { type: 'string' } } },
    };
    return {
      ...{ name, ...schemas, digest: await digestOfSchemas(schemas), history: await history(name) },
      read: (args) => args,
      admits: type.admits ?? (() => true),
      matches:
        type.matches ??
        (({ data }, input) => {
          const { queue } = input as { queue?: string };
          return queue === undefined || data['queue'] === queue;
        }),
    };
  }
  const hooks = await webhooks({
    ...{ server, store, options, secrets: () => secrets, leaseMs: init.leaseMs },
    types: { find, names: () => Object.keys(types) },
    async enter(call, { name, args, dialect }) {
      const type = await find(name);
      if (type === undefined)
        throw eventFailure('not_found', 'Unknown event', { dialect, data: { kind: 'event' } });
      if (!(await type.admits(call.auth as Auth, args)))
        throw eventFailure('forbidden', 'Not for you', { dialect, data: {} });
      return type;
    },
    safeFetch: (given) => init.fetch ?? nodeSafeFetch(given),
    log: (level, message, detail) =>
      void log.push(`${level} ${message} ${detail instanceof Error ? detail.stack : JSON.stringify(detail)}`),
    times: { retryInMs: (failures) => (failures < 5 ? 20 : undefined), ...times },
  });
  hooks.start();
  const callOf = (caller: string, params: JsonObject): Call =>
    ({ params, ...(caller !== '' && { auth: authOf(caller) }) }) as unknown as Call;
  return {
    ...{ hooks, store, types, history, log },
    async emit(data, eventId = crypto.randomUUID(), name = 'ticket') {
      const { append, group } = await history(name).then((one) => ({
        append: one.append.bind(one),
        group: one.group,
      }));
      await append([{ eventId, timestamp: new Date().toISOString(), data }], hooks.changes(group));
      hooks.onEvents();
    },
    subscribe: async (caller, params, dialect = 'sketch') =>
      (await hooks.subscribe(callOf(caller, params), dialect)) as Subscribed,
    unsubscribe: (caller, params, dialect = 'sketch') => hooks.unsubscribe(callOf(caller, params), dialect),
    close: (drainMs = 1000) => hooks.close(drainMs),
  };
}
