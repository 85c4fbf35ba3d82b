import { loadTransport } from '../../../src/adapters/nats/connection/load.js';
import type { NatsConnection, NatsMessage } from '../../../src/adapters/nats/connection/nats-types.js';

/** A connection of its own, for what no part of fullmcp would send. */
export async function connectRaw(url: string): Promise<NatsConnection> {
  return (await loadTransport()).connect({ servers: url.replace('nats://', ''), noAsyncTraces: true });
}

/** Sends a request and collects the responses that arrive until `isDone`, each parsed as JSON. */
export async function collectResponses(
  nc: NatsConnection,
  subject: string,
  {
    payload = '',
    isDone,
  }: { readonly payload?: string; readonly isDone: (responses: readonly unknown[]) => boolean },
): Promise<readonly unknown[]> {
  const reply = (await loadTransport()).createInbox();
  const responses: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${subject}: ${responses.length} responses`)), 15_000);
    const subscription = nc.subscribe(reply, {
      callback(_error, message) {
        responses.push(message.headers?.code === 503 ? 'no responders' : JSON.parse(textOf(message)));
        if (!isDone(responses)) return;
        clearTimeout(timer);
        subscription.unsubscribe();
        resolve();
      },
    });
    nc.publish(subject, payload, { reply });
  });
  return responses;
}

export function textOf({ data }: Pick<NatsMessage, 'data'>): string {
  return new TextDecoder().decode(data);
}
