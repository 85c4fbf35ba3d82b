// The events of a server. Their code is loaded when events are first used: most servers have none.

import type { Call, Outcome } from '../../protocol/call.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import { eventMethods } from '../../protocol/events/offer.js';
import type { EventHost, EventPluginParts } from '../../server/handle/event-host.js';
import { type EventLoaders, hasSources } from './source-host.js';

/** Makes the host of the extension `io.modelcontextprotocol/events`. */
export function eventHostLater(parts: EventPluginParts, loaders: EventLoaders): EventHost {
  let loading: Promise<EventHost> | undefined;
  let isStarted = false;
  let isClosed = false;

  function load(): Promise<EventHost> {
    loading ??= import('./host.js').then(({ eventHost }) => eventHost(parts, loaders));
    return loading;
  }

  async function serve(call: Call): Promise<Outcome> {
    const { methods } = await load();
    return (methods.get(call.method) as typeof serve)(call);
  }

  return {
    methods: new Map(Object.values(eventMethods).map((method) => [method, serve])),
    async emit(name, data, options) {
      assertJson(data, 'emit: The data cannot be sent');
      // The program may change its data as soon as `emit` has returned its promise.
      const copy = JSON.parse(JSON.stringify(data) ?? 'null') as object;
      return (await load()).emit(name, copy, options);
    },
    // A server that was closed has no subscribers to tell, and no store.
    relay: async (...event) => (isClosed ? undefined : (await load()).relay(...event)),
    changed: (message) =>
      load()
        .then((host) => host.changed(message))
        .catch((error: unknown) => parts.log('error', 'A change could not be kept as an event', error)),
    webhooks: {
      async *deliveries() {
        yield* (await load()).webhooks.deliveries();
      },
      redeliver: async (...which) => (await load()).webhooks.redeliver(...which),
    },
    async start() {
      isStarted = true;
      if (parts.webhooks !== undefined || hasSources(parts)) await (await load()).start();
    },
    added() {
      if (isStarted && hasSources(parts))
        load()
          .then((host) => host.start())
          .catch((error: unknown) => parts.log('error', 'A schedule of events could not be started', error));
    },
    drain: async (options) => (await loading)?.drain(options),
    async close() {
      isClosed = true;
      await (await loading)?.close();
    },
  };
}
