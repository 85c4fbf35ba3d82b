// A ticket desk whose events go to hosts by webhook, a host that receives them, and what the operator of the desk watches.

import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, event, type Server, tool } from 'fullmcp';
import { type ApiKeyOptions, apiKey } from 'fullmcp/auth';
import type { Client } from 'fullmcp/client';
import { receiver } from 'fullmcp/events';
import { lmdbStore } from 'fullmcp/lmdb';
import { z } from 'zod';

export interface DeskSettings {
  /** The folder of the store. */
  readonly folder: string;
  /** The secret of the server, of at least 32 bytes. */
  readonly secret: string;
  /** The keys of the hosts. */
  readonly keys: ApiKeyOptions['keys'];
  /** Receivers on this computer, for tests. */
  readonly privateHosts?: readonly string[];
}

const ticket = z.object({ id: z.string(), queue: z.string(), status: z.string() });

// #region desk
export function makeDesk({ folder, secret, keys, privateHosts = [] }: DeskSettings) {
  return createServer({
    name: 'desk',
    version: '1.0.0',
    // Events and subscriptions survive a restart, and the secrets of receivers are sealed in the store.
    store: lmdbStore(folder),
    secret,
    // Only a caller that is known can subscribe a webhook.
    auth: apiKey({ keys }),
    webhooks: { maxPerCaller: 20, privateHosts },
    events: {
      ticket_changed: event({
        description: 'A ticket was opened, or its status changed',
        input: z.object({ queue: z.string() }),
        payload: ticket,
        match: (changed, { queue }) => changed.queue === queue,
      }),
    },
    tools: {
      set_status: tool({
        description: 'Set the status of a ticket',
        input: ticket,
        run: async (changed, ctx) => {
          await ctx.emit('ticket_changed', changed, { eventId: `${changed.id}-${changed.status}` });
          return `${changed.id} is ${changed.status}`;
        },
      }),
    },
  });
}
// #endregion

// #region host
/** A host: its receiver tells a user, or a model, what has happened. */
export async function openHost(tell: (text: string) => void) {
  const hooks = receiver({ onEvent: ({ name, data }) => tell(`${name}: ${JSON.stringify(data)}`) });
  const http = createHttpServer(hooks.node).listen(0, '127.0.0.1');
  await once(http, 'listening');
  return { hooks, http, origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
}

/** Subscribes a host to a queue of the desk. */
export async function subscribe({ hooks, origin }: Host, client: Client) {
  const url = `${origin}/hooks`;
  return hooks.subscribe(client, 'ticket_changed', { queue: 'billing' }, { url });
}
// #endregion

type Host = Awaited<ReturnType<typeof openHost>>;

// #region watch
/** The subscriptions that somebody has to look at. Run it every few minutes, and send the lines to where your alerts are. */
export async function* troubled({ webhooks }: Pick<Server, 'webhooks'>): AsyncGenerator<string> {
  for await (const each of webhooks.deliveries()) {
    const { subscription, url, status, retrying, dead, lastError } = each;
    if (status === 'suspended' || dead.length > 0 || retrying.length >= 20)
      yield `${subscription} (${url}) is ${status}: ${dead.length} put aside, ${retrying.length} waiting, ${lastError}`;
  }
}
// #endregion
