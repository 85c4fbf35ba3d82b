import type { ListedEvent } from '../../../client/model/client.js';
import { cleanLine } from '../../../tooling/clean.js';
import type { Command } from '../../command/definition.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { Output } from '../../terminal/output.js';
import { parameters, typeOf } from '../../terminal/signature.js';
import { wrapParts } from '../../terminal/wrap.js';
import { describe } from '../use/list.js';
import { hasEvents } from './event-type.js';

/** `fullmcp events list`. */
export const list: Command = {
  usage: '<target>',
  words: [1, 1],
  options: { ...TARGET_OPTIONS, long: { type: 'boolean', short: 'l', help: 'print descriptions in full' } },
  examples: [
    {
      line: 'fullmcp events list http://localhost:3000/mcp',
      says: 'The types, with the arguments of a subscription, the data of an event, and how they are delivered.',
    },
  ],
  json: '{ ok: true, events: EventType[] }, as in the protocol',
  run: (input) =>
    withTarget(input, async ({ client }) => {
      const { out } = input;
      const events = await client.events().all();
      out.json({ ok: true, events });
      if (events.length === 0 && !hasEvents(client)) return out.note('The server declares no events.');
      if (events.length === 0) return out.note('The server lists no events for this caller.');
      for (const type of events) {
        out.styled(wrapParts(signature(type, out), out.width, '  '));
        describe(type, input.flag('long'), out);
      }
    }),
};

/** A type on one line: the arguments of a subscription, the data of an event, and the ways of delivery. */
function signature({ name, inputSchema = {}, payloadSchema, delivery }: ListedEvent, out: Output): string {
  const data =
    payloadSchema === undefined ? '' : out.style('dim', ` → ${typeOf(payloadSchema, payloadSchema)}`);
  const ways = delivery.length === 0 ? '' : out.style('yellow', `  ${delivery.join(', ')}`);
  return `${out.style('bold', cleanLine(name, 128))}(${parameters(inputSchema)})${data}${ways}`;
}
