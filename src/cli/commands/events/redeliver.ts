import { delay } from '../../../async/delay.js';
import type { WebhookDeliveries } from '../../../index.js';
import type { EventOperator } from '../../../tooling/operator/operator.js';
import type { Command } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { unknownSubscription } from './deliveries.js';
import { operating } from './operating.js';

/** The times after which it is looked at whether the events have arrived: 10 s in all. */
const LOOKS_MS = [100, 200, 400, 800, 1500, 2000, 2500, 2500];

/** `fullmcp events redeliver`. */
export const redeliver: Command = {
  usage: '<target> <subscription> [event]',
  details:
    'Sends events of your own server again that were given up: one, or all of a subscription. Waits up to 10 s for the receiver, and\nprints how many events it accepted. Events that it does not accept are retried as new ones are.',
  words: [1, 3],
  options: { ...TARGET_OPTIONS },
  examples: [
    {
      line: 'fullmcp events redeliver ./server.ts sub_9f86d081884c7d65',
      says: 'All events of a subscription that were given up.',
    },
    { line: 'fullmcp events redeliver ./server.ts sub_9f86d081884c7d65 T-7-open', says: 'One of them.' },
  ],
  json: '{ ok: true, sent: number, delivered: number }: the events that are sent again, and those of them that have arrived',
  run: (input) =>
    operating(input, async ({ operator, words: [subscription, eventId] }) => {
      if (subscription === undefined)
        throw usageError('The id of a subscription is missing. `fullmcp events deliveries` lists them.');
      const { out, signal } = input;
      const before = await find(operator, subscription, signal);
      const again = before.dead.filter((event) => eventId === undefined || event.eventId === eventId);
      if (again.length === 0) throw nothingToSend(subscription, eventId);
      out.wait('sending');
      const sent = await operator.redeliver(subscription, eventId, { signal });
      const left = await waitFor(operator, { before: { ...before, dead: again }, signal });
      const delivered = Math.max(0, sent - left.count);
      out.json({ ok: true, sent, delivered });
      out.value(`${delivered} of ${sent} delivered`);
      if (left.isSuspended)
        out.note(
          'The subscription is suspended: its receiver accepted hardly anything. It continues when the client refreshes it.',
        );
      else if (left.count > 0)
        out.note(
          'The server sends the others again, and gives them up after five attempts in about three minutes.',
        );
    }),
};

function nothingToSend(subscription: string, eventId: string | undefined): CommandError {
  return new CommandError(
    'failed',
    eventId === undefined
      ? `No event of the subscription ${JSON.stringify(subscription)} was given up.`
      : `The subscription ${JSON.stringify(subscription)} has given up no event ${JSON.stringify(eventId)}.`,
  );
}

async function find(operator: EventOperator, id: string, signal: AbortSignal): Promise<WebhookDeliveries> {
  for await (const found of operator.deliveries(id, { signal })) return found;
  throw unknownSubscription(id);
}

interface Awaited {
  /** The subscription before, with the events that are sent again. */
  readonly before: WebhookDeliveries;
  readonly signal: AbortSignal;
}

interface Left {
  /** The events that have not arrived. */
  readonly count: number;
  readonly isSuspended: boolean;
}

/** Waits until all events have arrived or were given up once more, but not for long. */
async function waitFor(operator: EventOperator, { before, signal }: Awaited): Promise<Left> {
  let left: Left = { count: before.dead.length, isSuspended: before.status === 'suspended' };
  for (const ms of LOOKS_MS) {
    if (left.isSuspended) return left;
    await delay(ms, { signal });
    const now = await find(operator, before.subscription, signal);
    const open = before.dead.flatMap(
      ({ eventId }) => now.dead.find((event) => event.eventId === eventId) ?? [],
    );
    const isWaiting = open.some(({ eventId, at }) =>
      before.dead.some((event) => event.eventId === eventId && event.at === at),
    );
    left = { count: open.length, isSuspended: now.status === 'suspended' };
    if (!isWaiting) return left;
  }
  return left;
}
