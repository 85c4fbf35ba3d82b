// The commands of the page.

import type { ChatCommandName, CommandName } from '../contract/inspector.js';
import { callCommands } from './call-commands.js';
import { type CommandParts, type CommandTable, storyIn } from './command-table.js';
import { connectionCommands } from './connection-commands.js';
import { eventCommands } from './event-commands.js';

/** All commands but those of chats, which stand on these. */
export function commandsOf(parts: CommandParts): CommandTable<Exclude<CommandName, ChatCommandName>> {
  const { connections, tapes, requests } = parts;
  const { feed } = connections.shared;
  return {
    ...connectionCommands(parts),
    ...callCommands(parts),
    ...eventCommands(parts),
    async importTape(input) {
      const tape = tapes.import(input.text('name', 1000), input.text('text', Number.POSITIVE_INFINITY));
      feed.emit({ type: 'tape', tape });
      return { tape: tape.id };
    },
    async closeTape(input) {
      tapes.close(input.text('tape', 100));
      return {};
    },
    replayTape: (input) =>
      tapes.replay(input.text('tape', 100), connections.get(input.text('connection')), input.texts('allow')),
    requests: () => requests.view(),
    async saveRequest(input) {
      const story = storyIn(input, parts);
      const wanted = {
        name: input.text('name', 200),
        expect: input.object('expect'),
        replace: input.flag('replace'),
      };
      return requests.save(story, connections.get(story.connection), wanted);
    },
    removeRequest: (input) => requests.remove(input.text('name', 200)),
    async runRequests(input) {
      const connection = connections.get(input.text('connection'));
      return { reports: await requests.run(connection, input.texts('names')) };
    },
  };
}
