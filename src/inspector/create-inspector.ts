// The process behind the page of the inspector.

import { McpError } from '../protocol/errors.js';
import { chatCommands } from './chat/chat-commands.js';
import type { FoundServer } from './contract/connection.js';
import type { CommandName, PageSnapshot } from './contract/inspector.js';
import type { InspectorOptions, RunningInspector } from './contract/options.js';
import { commandsOf } from './session/commands.js';
import { takeLine } from './session/connection/client-options.js';
import { Connections } from './session/connections.js';
import { CommandInput } from './session/input.js';
import { ProjectRequests } from './session/project-requests.js';
import { Tapes } from './session/tapes.js';
import { sharedStory } from './stories/share-story.js';

export type { InspectorOptions, RunningInspector } from './contract/options.js';

/** Makes an inspector. Its connections and calls live until it is closed, whether a page is open or not. */
export function createInspector(options: InspectorOptions): RunningInspector {
  const connections = new Connections({
    ...options,
    onConnected: (...facts) => {
      options.onConnected?.(...facts);
      void find();
    },
  });
  const { shared } = connections;
  const { book, feed, messages } = shared;
  const tapes = new Tapes();
  const requests = new ProjectRequests(options.requestsFile);
  let found: readonly FoundServer[] = [];
  let first: PageSnapshot['first'];
  let isClosed = false;

  async function find(): Promise<void> {
    const servers = await options.found?.().catch(() => undefined);
    if (servers === undefined || isClosed) return;
    found = servers;
    feed.emit({ type: 'found', found });
  }
  void find();

  const commands = {
    ...commandsOf({ connections, tapes, requests, options, find }),
    ...chatCommands({ connections, casesFile: options.casesFile }),
  };

  return {
    snapshot: () => ({
      version: options.version,
      seq: feed.seq,
      connections: connections.views,
      stories: book.views(),
      messages: messages.heads(),
      logs: shared.logs,
      told: shared.told,
      found,
      tapes: tapes.views,
      chats: connections.chats,
      mayConnect: options.openTarget !== undefined,
      ...(first && { first }),
      ...(shared.history.isKept && {
        history: shared.history.notice === undefined ? {} : { notice: shared.history.notice },
      }),
      ...(requests.file !== undefined && { requestsFile: requests.file }),
      ...(options.sandboxOrigin !== undefined && { sandboxOrigin: options.sandboxOrigin }),
    }),
    eventsAfter: (seq) => feed.after(seq),
    subscribe: (listener) => feed.subscribe(listener),
    async run(command, input) {
      if (isClosed) throw new McpError('connection_closed', 'The inspector was closed.');
      if (!Object.hasOwn(commands, command))
        throw new McpError('method_not_found', `The inspector has no command "${command.slice(0, 100)}".`);
      return commands[command as CommandName](new CommandInput(command, input));
    },
    catalog: (connection) => connections.find(connection)?.catalog,
    message: (seq) => messages.text(seq),
    outcome: (story) => book.get(story)?.outcomeText,
    share(id) {
      const story = book.get(id);
      if (story === undefined) return undefined;
      const connection = connections.find(story.connection);
      const view = connection?.view;
      return sharedStory(story.view, {
        server: view?.name ?? 'a server',
        revision: view?.revision,
        version: options.version,
        outcome: story.outcomeText,
        definition: connection?.definitionOf(story),
        mask: connection?.mask ?? String,
      });
    },
    tape: (id) => {
      const connection = connections.find(id);
      return connection?.mask(connection.tape.text);
    },
    async close() {
      isClosed = true;
      await connections.close();
    },
    async open(spec, tool) {
      const { id } = await connections.open(spec);
      first = { connection: id, ...(tool !== undefined && { tool }) };
      return id;
    },
    journalEvent: (event) => shared.journal(event),
    stderrLine(line) {
      const connection = first?.connection === undefined ? undefined : connections.find(first.connection);
      if (connection !== undefined) takeLine(connection, line);
    },
  };
}
