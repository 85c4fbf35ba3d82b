// The commands about chats. Their code is loaded with the first chat.

import { McpError } from '../../protocol/errors.js';
import { type ChatDecision, chatDecisions } from '../contract/chat.js';
import type { ChatCommandName } from '../contract/inspector.js';
import type { CommandTable } from '../session/command-table.js';
import type { InspectedConnection } from '../session/connection/connection.js';
import type { Connections } from '../session/connections.js';
import type { CommandInput } from '../session/input.js';
import type { Chat } from './chat.js';

export interface ChatCommandParts {
  readonly connections: Connections;
  readonly casesFile: string | undefined;
}

const MAX_ASK = 20_000;

export function chatCommands({ connections, casesFile }: ChatCommandParts): CommandTable<ChatCommandName> {
  const { feed } = connections.shared;
  const chats = new WeakMap<InspectedConnection, Chat>();
  const of = (input: CommandInput): InspectedConnection => connections.get(input.text('connection'));

  function chatOf(input: CommandInput): Chat {
    const chat = chats.get(of(input));
    if (chat !== undefined) return chat;
    throw new McpError('invalid_request', 'There is no chat with this server. Choose a model first.');
  }

  return {
    async beginChat(input) {
      const connection = of(input);
      const [{ Chat: NewChat }, { readChatModel }] = await Promise.all([
        import('./chat.js'),
        import('./chat-model.js'),
      ]);
      const model = readChatModel(input);
      const onChange = (): void => {
        if (connection.chat === chat) feed.chatChanged(connection.id);
      };
      const chat: Chat = new NewChat({ connection, model, casesFile, onChange });
      connection.chat?.stop();
      connection.chat = chat;
      chats.set(connection, chat);
      onChange();
      return {};
    },
    async endChat(input) {
      const connection = of(input);
      connection.chat?.stop();
      connection.chat = undefined;
      chats.delete(connection);
      feed.chatChanged(connection.id);
      return {};
    },
    async say(input) {
      chatOf(input).say(input.text('text', MAX_ASK));
      return {};
    },
    async stopChat(input) {
      chatOf(input).stop();
      return {};
    },
    async decideCall(input) {
      const decision = input.text('decision', 20) as ChatDecision;
      if (!chatDecisions.includes(decision))
        throw new McpError('invalid_params', `The decision must be one of ${chatDecisions.join(', ')}.`);
      chatOf(input).decide(input.text('call', 20), input.text('digest', 100), decision);
      return {};
    },
    chatCase: async (input) => ({ text: chatOf(input).caseText(input.number('ask')) }),
    saveChatCase: async (input) => ({ file: await chatOf(input).saveCase(input.number('ask')) }),
  };
}
