// The events extension: keeps events, lists their types, and delivers them to polls and streams.

import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { eventMethods } from '../../protocol/events/offer.js';
import type { EventHost, EventPluginParts } from '../../server/handle/event-host.js';
import { Emitter } from './emitter.js';
import { Histories } from './histories.js';
import { poll } from './poll.js';
import { type EventLoaders, hasSources, type SourceHost } from './source-host.js';
import { stream } from './stream.js';
import { readSubscription } from './subscription.js';
import { Wakes } from './wakes.js';
import type { WebhookHost } from './webhook-host.js';

/** The time for deliveries that are under way at the end. */
const DRAIN_MS = 5000;

/** Makes the host of the extension `io.modelcontextprotocol/events`. */
export function eventHost(parts: EventPluginParts, { loadWebhooks, loadSources }: EventLoaders): EventHost {
  const histories = new Histories(parts);
  let loading: Promise<WebhookHost> | undefined;
  let loadingSources: Promise<SourceHost> | undefined;
  let isDrained = false;
  const emitter = new Emitter(parts, histories, {
    also: async ({ listed }, group) =>
      listed.delivery.includes('webhook') ? (await hooks()).changes(group) : [],
    keep: async (...event) => (await sources()).keep(...event),
  });
  const wakes = new Wakes(parts);
  return {
    methods: new Map([
      [eventMethods.list, async (call) => parts.events.page(call, call.params['cursor'])],
      [eventMethods.poll, through((call) => poll(call, parts, histories))],
      [eventMethods.stream, through((call) => stream(call, { parts, histories, wakes }))],
      [eventMethods.subscribe, through(subscribe)],
      [eventMethods.unsubscribe, through(async (call) => (await hooks()).unsubscribe(call))],
    ]),
    emit: (name, data, options) => emitter.emit(name, data, options),
    async relay(name, event, transaction) {
      const type = parts.events.get(name);
      if (type !== undefined) await emitter.tell(type, event, transaction);
    },
    changed: async (message) => (await sources()).changed(message),
    webhooks: {
      async *deliveries() {
        yield* (await hooks()).deliveries();
      },
      redeliver: async (subscription, eventId) => (await hooks()).redeliver(subscription, eventId),
    },
    // In `host-later.ts`, which alone knows whether the server has started.
    added: () => undefined,
    async start() {
      if (parts.webhooks !== undefined) await hooks();
      if (hasSources(parts) && !isDrained) await (await sources()).start();
    },
    async drain({ drainMs = DRAIN_MS } = {}) {
      isDrained = true;
      await Promise.all([
        loading?.then((loaded) => loaded.close(drainMs)),
        loadingSources?.then((loaded) => loaded.close(drainMs)),
      ]);
    },
    async close() {
      await (await loadingSources)?.end();
      await emitter.idle();
      wakes.close();
    },
  };

  /** Puts the middleware of the server that a type was mounted from around a request, if its caller may know of the type. */
  function through(serve: Dispatch): Dispatch {
    return async function serveEvents(call) {
      const { access, mounted } = parts.events.get(String(call.params['name'])) ?? {};
      if (mounted?.through === undefined) return serve(call);
      const isAllowed = access === undefined || (await parts.gate.judge(call, access)) === 'allowed';
      return isAllowed ? mounted.through(call, serve) : serve(call);
    };
  }

  async function subscribe(call: Call): Promise<Outcome> {
    // A server without webhooks has types all the same, and says so.
    if (parts.webhooks === undefined) await readSubscription(call, 'webhook', parts);
    return (await hooks()).subscribe(call);
  }

  function hooks(): Promise<WebhookHost> {
    if (parts.webhooks === undefined)
      return Promise.reject(
        new McpError('method_not_found', 'This server has no webhooks. Give it the option "webhooks".'),
      );
    loading ??= loadWebhooks(parts, histories).then((loaded) => {
      // Any process that has events delivers them.
      if (!isDrained) loaded.start();
      return loaded;
    });
    return loading;
  }

  function sources(): Promise<SourceHost> {
    loadingSources ??= loadSources({
      ...{ parts, histories },
      emit: (...event) => emitter.emit(...event),
      read: (...event) => emitter.read(...event),
    });
    return loadingSources;
  }
}
