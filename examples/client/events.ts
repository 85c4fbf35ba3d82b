import { createServer, type Server } from 'node:http';
import type { Client, EventStore, FollowedEvents } from 'fullmcp/client';
import { type EventReceiver, receiver, type WebhookSubscription } from 'fullmcp/events';
import { fileTokenStore } from 'fullmcp/oauth';
import { type WebhookReceiver, webhookReceiver } from 'fullmcp/testing';

// The examples of docs/events-client.md.

export async function names(client: Client): Promise<readonly string[]> {
  // #region list
  const types = await client.events().all();
  return types.map(({ name, delivery }) => `${name}: ${delivery.join(', ')}`);
  // #endregion
}

export async function follow(client: Client, refresh: (data: object) => void): Promise<FollowedEvents> {
  // #region on
  const subscription = await client.on('ticket_changed', { queue: 'billing' }, async ({ eventId, data }) => {
    console.error(`Event ${eventId}`);
    refresh(data);
  });
  // #endregion
  return subscription;
}

export async function resume(
  client: Client,
  folder: string,
  refresh: (data: object) => void,
): Promise<FollowedEvents> {
  // #region store
  const store = fileTokenStore({ folder, key: () => readKey() });
  const subscription = await client.on('ticket_changed', {}, ({ data }) => refresh(data), {
    store,
    onGap: () => refresh({}), // the server no longer had all events: read everything again
  });
  // #endregion
  return subscription;
}

export function receive(store: EventStore, save: (id: string, data: object) => Promise<void>): EventReceiver {
  // #region receiver
  const hooks = receiver({
    store,
    async onEvent({ eventId, name, data }) {
      if (name === 'ticket_changed') await save(eventId, data);
    },
    onTerminated: (error) => console.error(`A subscription has ended: ${error.message}`),
  });
  // #endregion
  return hooks;
}

export function serve(hooks: EventReceiver): Server {
  // #region node
  const server = createServer(hooks.node);
  // #endregion
  return server;
}

export async function subscribe(
  hooks: EventReceiver,
  client: Client,
  url: string,
): Promise<WebhookSubscription> {
  // #region subscribe
  const subscription = await hooks.subscribe(client, 'ticket_changed', { queue: 'billing' }, { url });
  // #endregion
  return subscription;
}

export async function failing(): Promise<WebhookReceiver> {
  // #region failing
  const hooks = await webhookReceiver({
    reply({ attempt, body }) {
      if (body['type'] === 'verification') return undefined; // returns the challenge
      return attempt < 3 ? 503 : 204;
    },
  });
  // #endregion
  return hooks;
}

async function readKey(): Promise<string> {
  return 'a key of at least 32 characters, kept in a keychain';
}
