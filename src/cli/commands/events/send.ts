import { ARGUMENT_OPTIONS } from '../../arguments/check-arguments.js';
import type { Command } from '../../command/definition.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { eventTypes, typeNamed } from './event-type.js';
import { givenValues } from './given-values.js';
import { operating, processNote } from './operating.js';

/** `fullmcp events send`. */
export const send: Command = {
  usage: '<target> <type> [name=value …]',
  details:
    'Emits an event of your own server, as `server.emit` does, and prints its id. The data is written as the arguments of `fullmcp call`.\nThe target is a file that exports the server, or the address of `fullmcp dev`. A file is started for this command: name it if the\nsubscribers share a store with it, and the address of `fullmcp dev` if the state is in memory.',
  words: [1, 1000],
  options: {
    id: {
      type: 'string',
      value: 'id',
      help: 'the id of the event; one that was emitted before is not told again',
    },
    ...ARGUMENT_OPTIONS,
    ...TARGET_OPTIONS,
  },
  examples: [
    {
      line: 'fullmcp events send http://localhost:3000/mcp ticket_changed id=T-7 status=open',
      says: 'Emits an event in the server that `fullmcp dev` runs.',
    },
    {
      line: 'fullmcp events send ./server.ts ticket_changed @ticket.json --id T-7-open',
      says: 'Starts a file, whose store the subscribers share.',
    },
  ],
  json: '{ ok: true, eventId: string, isNew: boolean }',
  run: (input) =>
    operating(input, async (opened) => {
      const { client, operator, words } = opened;
      const [name, ...typed] = words;
      const type = typeNamed(await eventTypes(client), name);
      const schema = type.payloadSchema ?? {};
      const data = await givenValues({ name: type.name, inputSchema: schema }, typed, input);
      const { out, signal } = input;
      out.wait('emitting');
      const emitted = await operator.emit({ name: type.name, data, eventId: input.text('id') }, { signal });
      out.json({ ok: true, ...emitted });
      out.value(emitted.eventId);
      if (!emitted.isNew) out.note('An event with this id was emitted before, so it is not told again.');
      const note = processNote(opened);
      if (note !== undefined) out.note(note);
    }),
};
