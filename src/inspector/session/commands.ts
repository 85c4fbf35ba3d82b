// The commands of the page.

import { callCommands } from './call-commands.js';
import type { CommandParts, CommandTable } from './command-table.js';
import { connectionCommands } from './connection-commands.js';

export function commandsOf(parts: CommandParts): CommandTable {
  const { connections, tapes } = parts;
  const { feed } = connections.shared;
  return {
    ...connectionCommands(parts),
    ...callCommands(parts),
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
  };
}
