// The bus on Redis: plain pub/sub, which a cluster passes on to all its nodes.

import { tryParseObject } from '../../jsonrpc/try-parse.js';
import type { Bus } from '../../state/bus.js';
import type { Access } from './engine.js';
import { PUBLISH } from './scripts.js';
import type { Subscriptions } from './subscriptions.js';

/**
 * Makes the bus on Redis. Sharded pub/sub would spread the topics over the nodes of a cluster, but every process would need a
 * connection to each of these nodes; the messages of a bus are few and short.
 */
export function redisBus(engine: Access, shared: Subscriptions): Bus {
  const subscriptions = shared.share();
  const channelOf = (topic: string): string => engine.keyspace.channel('bus', topic);
  return {
    async publish(topic, message) {
      const channel = channelOf(topic);
      await engine.run(PUBLISH, { keys: [channel], args: [JSON.stringify(message)] });
    },
    subscribe(topic, listener) {
      return subscriptions.subscribe(channelOf(topic), {
        gap: () => listener.gap(),
        message(text) {
          // Anybody who can reach Redis can publish. A message that is not an object is not one of ours.
          const message = tryParseObject(text);
          if (message !== undefined) listener.message(message);
        },
      });
    },
    async close() {
      subscriptions.end();
      engine.close();
    },
  };
}
