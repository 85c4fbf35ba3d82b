// The commands about connections: opening and closing them, their settings, and their login.

import { McpError } from '../../protocol/errors.js';
import { isLogLevel } from '../../protocol/tables/log-level.js';
import type { Manifest } from '../../tooling/manifest/manifest.js';
import { compareManifests } from '../../tooling/manifest/manifest-change.js';
import type { CommandParts, CommandTable } from './command-table.js';
import { historyNameOf, type InspectedConnection, revisionOf } from './connection/connection.js';
import type { CommandInput } from './input.js';
import type { Login } from './login/login.js';
import { readRoot, readSpec } from './read-target.js';

/** More differences than this would not be read. */
const MAX_CHANGES = 1000;

type Names =
  | 'connect'
  | 'reconnect'
  | 'disconnect'
  | 'forgetServer'
  | 'refresh'
  | 'roots'
  | 'logLevel'
  | 'ping'
  | 'clear'
  | 'forgetHistory'
  | 'compareServers'
  | 'login'
  | 'forgetLogin';

export function connectionCommands({ connections, options, find }: CommandParts): CommandTable<Names> {
  const { book, feed, messages, history } = connections.shared;
  const of = (input: CommandInput): InspectedConnection => connections.get(input.text('connection'));
  return {
    connect: async (input) => ({ connection: (await connections.open(readSpec(input))).id }),
    async reconnect(input) {
      const connection = of(input);
      const wanted = input.textIfGiven('revision');
      if (wanted !== undefined) {
        const revision = revisionOf(wanted);
        if (revision === undefined && wanted !== 'newest')
          throw new McpError('invalid_params', `"${wanted.slice(0, 40)}" is not a revision.`);
        connection.requestedRevision = revision;
      }
      void connection.connect();
      return {};
    },
    async disconnect(input) {
      await connections.remove(of(input).id);
      return {};
    },
    async forgetServer(input) {
      const id = input.text('id');
      if (options.forgetServer === undefined)
        throw new McpError('forbidden', 'This inspector does not keep servers.');
      await options.forgetServer(id);
      await find();
      return {};
    },
    async refresh(input) {
      await of(input).lists.refresh();
      return {};
    },
    async roots(input) {
      const connection = of(input);
      connection.roots = input.list('roots', 100).map(readRoot);
      connection.changed();
      if (connection.status === 'ready') await connection.open.client.rootsChanged();
      return {};
    },
    async logLevel(input) {
      const connection = of(input);
      const level = input.textIfGiven('level');
      if (level !== undefined && !isLogLevel(level))
        throw new McpError('invalid_params', `"${level.slice(0, 40)}" is not a log level.`);
      connection.logLevel = level;
      connection.mayAskForLogs = false;
      if (connection.status === 'ready') connection.open.client.setLogLevel(level);
      connection.changed();
      return {};
    },
    async ping(input) {
      const connection = of(input);
      const { client, tap } = connection.open;
      const story = book.begin({ connection: connection.id, kind: 'request', title: 'ping', method: 'ping' });
      try {
        const ms = await tap.run(story.scope, () => client.ping({ timeoutMs: 30_000 }));
        story.end({ state: 'ok' });
        connection.roundTripMs = ms;
        connection.changed();
        return { ms };
      } catch (error) {
        story.end({ state: 'error' });
        throw error;
      }
    },
    async clear(input) {
      const { id, init } = of(input);
      const kept = book.clear(
        id,
        (story) => story.isPinned || (!story.isOver && story.kind !== 'unsolicited'),
      );
      const keptStories = new Set(kept);
      messages.filter((head) => head.connection !== id || keptStories.has(head.story ?? -1));
      feed.emit({ type: 'cleared', connection: id, kept });
      const pinned = new Set(kept.map((story) => book.get(story)?.keptAs));
      const server = historyNameOf(init.opened);
      await history.remove((run) => run.server === server && !pinned.has(run.id));
      return {};
    },
    async forgetHistory() {
      await history.forget();
      for (const { id } of connections.views) {
        const kept = book.clear(id, ({ earlier }) => earlier === undefined);
        feed.emit({ type: 'cleared', connection: id, kept });
      }
      feed.emit({ type: 'history', history: {} });
      return {};
    },
    async compareServers(input) {
      const [before, after] = ['before', 'after'].map((name) =>
        manifestOfView(connections.get(input.text(name))),
      );
      return { changes: before && after ? compareManifests(before, after).slice(0, MAX_CHANGES) : [] };
    },
    async login(input) {
      const connection = of(input);
      await loginOf(connection).logout();
      void connection.connect();
      return {};
    },
    async forgetLogin(input) {
      const connection = of(input);
      const login = loginOf(connection);
      await connection.close();
      await login.forget();
      return {};
    },
  };
}

/** Everything that a server offers, as the page shows it. */
function manifestOfView({ view, catalog }: InspectedConnection): Manifest {
  const { server, revision = '' } = view;
  const { name = '', title, version } = server ?? {};
  if (server === undefined || catalog.version === 0)
    throw new McpError('invalid_request', `${view.name} has not been listed yet.`);
  return {
    fullmcp: 'manifest',
    version: 1,
    server: { name, ...(title !== undefined && { title }), ...(version !== undefined && { version }) },
    revision,
    capabilities: server.capabilities,
    ...(server.instructions !== undefined && { instructions: server.instructions }),
    tools: catalog.tools.map(({ tool }) => tool),
    resources: catalog.resources,
    templates: catalog.templates,
    prompts: catalog.prompts,
  };
}

function loginOf({ authorization }: InspectedConnection): Login {
  if (authorization.login !== undefined) return authorization.login;
  throw new McpError(
    'invalid_request',
    authorization.view().state === 'token'
      ? 'This connection uses a token that was given. Connect without it to log in.'
      : 'There is no login for this kind of connection.',
  );
}
