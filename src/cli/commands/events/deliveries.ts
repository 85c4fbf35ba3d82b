import type { WebhookDeliveries } from '../../../index.js';
import { cleanLine } from '../../../tooling/clean.js';
import type { Command } from '../../command/definition.js';
import { CommandError } from '../../command/failures.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { Output } from '../../terminal/output.js';
import { wrapParts } from '../../terminal/wrap.js';
import { operating, processNote } from './operating.js';

/** `fullmcp events deliveries`. */
export const deliveries: Command = {
  usage: '<target> [subscription]',
  details:
    'Prints the subscriptions of webhooks of your own server, or one of them, with the events that are sent again and those that were given\nup, and the number of attempts. The target is a file that exports the server and keeps its state in a store, or the address of\n`fullmcp dev`. `fullmcp events redeliver` sends events again that were given up.',
  words: [1, 2],
  options: {
    failed: { type: 'boolean', help: 'print only subscriptions with an event that failed' },
    ...TARGET_OPTIONS,
  },
  examples: [
    { line: 'fullmcp events deliveries ./server.ts', says: 'All subscriptions, as its store has them.' },
    {
      line: 'fullmcp events deliveries http://localhost:3000/mcp --failed --json',
      says: 'Those that need attention, in the server that `fullmcp dev` runs.',
    },
  ],
  json: 'JSON lines: { ok: true, subscription: string, name: string, url: string, subject: string, status: "active" | "suspended" | "ending", lastDeliveryAt?: string, lastError?: string, retrying: { eventId: string, attempts: number, nextAttemptAt: string }[], dead: { eventId: string, reason: string, attempts: number, at: string }[] }',
  run: (input) =>
    operating(input, async (opened) => {
      const { out, signal } = input;
      const [subscription] = opened.words;
      let isFound = false;
      let count = 0;
      for await (const each of opened.operator.deliveries(subscription, { signal })) {
        isFound = true;
        if (input.flag('failed') && !hasFailed(each)) continue;
        count++;
        out.jsonLine({ ok: true, ...each });
        if (!out.isJson) print(each, out);
      }
      if (subscription !== undefined && !isFound) throw unknownSubscription(subscription);
      if (count > 0) return;
      out.note(isFound ? 'No subscription has an event that failed.' : 'No webhook is subscribed.');
      const note = isFound ? undefined : processNote(opened);
      if (note !== undefined) out.note(note);
    }),
};

/** The error for a subscription that the server does not have. */
export function unknownSubscription(id: string): CommandError {
  return new CommandError(
    'failed',
    `There is no subscription ${JSON.stringify(cleanLine(id, 128))}. \`fullmcp events deliveries\` lists them.`,
  );
}

function hasFailed({ dead, retrying }: WebhookDeliveries): boolean {
  return dead.length > 0 || retrying.length > 0;
}

const STATUS = { active: 'green', suspended: 'red', ending: 'dim' } as const;

function print(found: WebhookDeliveries, out: Output): void {
  const { subscription, name, url, subject, status, lastDeliveryAt, lastError } = found;
  const parts = [
    out.style('bold', cleanLine(subscription, 80)),
    cleanLine(name, 128),
    cleanLine(url, 2000),
    cleanLine(subject, 128),
    out.style(STATUS[status], status),
    lastDeliveryAt === undefined ? 'nothing delivered yet' : `last delivery ${cleanLine(lastDeliveryAt, 40)}`,
    ...(lastError === undefined ? [] : [out.style('red', cleanLine(lastError, 80))]),
  ];
  out.styled(wrapParts(parts.join('  '), out.width, '  '));
  for (const { eventId, attempts, nextAttemptAt } of found.retrying)
    line(
      [`retrying  ${cleanLine(eventId, 128)}`, times(attempts), `again ${cleanLine(nextAttemptAt, 40)}`],
      out,
    );
  for (const { eventId, reason, attempts, at } of found.dead)
    line(
      [`given up  ${cleanLine(eventId, 128)}`, times(attempts), cleanLine(reason, 80), cleanLine(at, 40)],
      out,
    );
}

function line(parts: readonly string[], out: Output): void {
  out.styled(wrapParts(`  ${parts.join('  ')}`, out.width, '      '));
}

function times(attempts: number): string {
  return attempts === 1 ? '1 attempt' : `${attempts} attempts`;
}
