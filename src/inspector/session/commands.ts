// The commands of the page.

import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { isLogLevel } from '../../protocol/tables/log-level.js';
import type { TargetSpec } from '../contract/connection.js';
import type { CommandName, Commands } from '../contract/inspector.js';
import type { InspectorOptions } from '../contract/options.js';
import type { StoryRecord } from '../stories/story-record.js';
import { act, actionOf, callTool, followById, request } from './actions.js';
import { type Connection, revisionOf } from './connection/connection.js';
import { answerProblem } from './connection/handlers.js';
import type { Connections } from './connections.js';
import type { Input } from './input.js';
import type { Login } from './login/login.js';
import type { Tapes } from './tapes.js';

export interface CommandParts {
  readonly connections: Connections;
  readonly tapes: Tapes;
  readonly options: InspectorOptions;
  /** Looks for servers again. */
  readonly find: () => Promise<void>;
}

type Command<Name extends CommandName> = (input: Input) => Promise<Commands[Name][1]>;
export type CommandTable = { readonly [Name in CommandName]: Command<Name> };

export function commandsOf({ connections, tapes, options, find }: CommandParts): CommandTable {
  const { shared } = connections;
  const { book, asking, feed, messages } = shared;
  const of = (input: Input) => connections.get(input.text('connection'));

  function storyOf(input: Input): StoryRecord {
    const id = input.number('story');
    const story = book.get(id);
    if (story !== undefined) return story;
    throw new McpError('invalid_params', `There is no call ${id}. It may have been cleared.`);
  }

  function again(story: StoryRecord): StoryRecord {
    const connection = connections.get(story.connection);
    const { kind, title, method, args = {}, id: repeats } = story;
    switch (kind) {
      case 'tool':
        return callTool(connection, { tool: title, args, asTask: story.task !== undefined, repeats }).story;
      case 'task':
        return followById(connection, String(args['taskId'])).story;
      case 'subscription':
        return connection.subscriptions.add(title);
      case 'prompt':
        return request(connection, { kind, title, method, args, repeats }, { name: title, arguments: args })
          .story;
      case 'read':
      case 'request':
      case 'complete':
        return request(connection, { kind, title, method, args, repeats }, args).story;
      case 'list':
      case 'connect':
      case 'unsolicited':
        throw new McpError('invalid_request', 'This entry is not a request that can be sent again.');
      default:
        return kind satisfies never;
    }
  }

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
      await of(input).refresh();
      return {};
    },
    async call(input) {
      const connection = of(input);
      const call = {
        tool: input.text('tool', 1000),
        args: input.object('args'),
        asTask: input.flag('asTask'),
        repeats: input.numberIfGiven('repeats'),
      };
      return { story: callTool(connection, call).story.id };
    },
    async read(input) {
      const params = { uri: input.text('uri') };
      return { story: request(of(input), actionOf('resources/read', params), params).story.id };
    },
    async prompt(input) {
      const params = { name: input.text('name', 1000), arguments: input.strings('args') };
      return { story: request(of(input), actionOf('prompts/get', params), params).story.id };
    },
    async request(input) {
      const method = input.text('method', 256);
      const params = input.object('params');
      return { story: request(of(input), actionOf(method, params), params).story.id };
    },
    again: async (input) => ({ story: again(storyOf(input)).id }),
    complete: (input) => complete(input),
    async subscribe(input) {
      return { story: of(input).subscriptions.add(input.text('uri')).id };
    },
    async unsubscribe(input) {
      await of(input).subscriptions.remove(input.text('uri'));
      return {};
    },
    async stop(input) {
      const story = storyOf(input);
      if (story.stop === undefined) throw new McpError('invalid_request', 'This call is over already.');
      await story.stop('stopped');
      return {};
    },
    async answer(input) {
      const story = storyOf(input);
      const id = input.text('question', 200);
      const answer = input.object('answer');
      const kind = story.questions.find(({ asked }) => asked.id === id)?.asked.kind;
      const problem = kind === undefined ? undefined : answerProblem(kind, answer);
      if (problem !== undefined) throw new McpError('invalid_params', problem);
      asking.answer(story, id, { answer, remember: input.flag('remember') });
      return {};
    },
    async forgetAnswers(input) {
      asking.forget(of(input).id, input.textIfGiven('tool'));
      return {};
    },
    async followTask(input) {
      return { story: followById(of(input), input.text('task', 1000)).story.id };
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
    async pin(input) {
      const story = storyOf(input);
      story.isPinned = input.flag('pinned');
      story.changed();
      return {};
    },
    async clear(input) {
      const { id } = of(input);
      const kept = book.clear(
        id,
        (story) => story.isPinned || (!story.isOver && story.kind !== 'unsolicited'),
      );
      const keptStories = new Set(kept);
      messages.filter((head) => head.connection !== id || keptStories.has(head.story ?? -1));
      feed.emit({ type: 'cleared', connection: id, kept });
      return {};
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
    async importTape(input) {
      const tape = tapes.import(input.text('name', 1000), input.text('text', Number.POSITIVE_INFINITY));
      feed.emit({ type: 'tape', tape });
      return { tape: tape.id };
    },
    async closeTape(input) {
      tapes.close(input.text('tape', 100));
      return {};
    },
    replayTape: (input) => tapes.replay(input.text('tape', 100), of(input), input.texts('allow')),
  };

  async function complete(input: Input): Promise<Commands['complete'][1]> {
    const connection = of(input);
    const { prompt, template } = input.object('ref');
    const [argument, value] = [input.text('argument', 1000), input.words('value')];
    const filled = input.stringsIfGiven('context');
    const ref = typeof prompt === 'string' ? { prompt } : { template: String(template ?? '') };
    if (prompt === undefined && typeof template !== 'string')
      throw new McpError('invalid_params', 'complete: "ref" must have a "prompt" or a "template".');
    const title = `${'prompt' in ref ? ref.prompt : ref.template} ${argument}`;
    const args = { ref, argument: { name: argument, value } };
    let found: Commands['complete'][1] = { values: [] };
    const { ended, story } = act(
      connection,
      { kind: 'complete', title, method: 'completion/complete', args },
      async (client, _story, signal) => {
        const { values, total, hasMore } = await client.complete(
          { ...ref, argument, value, ...(filled && { filled }) },
          { signal },
        );
        found = { values, ...(total !== undefined && { total }), ...(hasMore && { hasMore }) };
        return { state: 'ok', outcome: JSON.stringify({ completion: found }) };
      },
    );
    await ended;
    const { error } = story.view;
    if (error !== undefined) throw new McpError('remote_error', error.message);
    return found;
  }
}

function loginOf({ authorization }: Connection): Login {
  if (authorization.login !== undefined) return authorization.login;
  throw new McpError(
    'invalid_request',
    authorization.view().state === 'token'
      ? 'This connection uses a token that was given. Connect without it to log in.'
      : 'There is no login for this kind of connection.',
  );
}

function readSpec(input: Input): TargetSpec {
  const [text, url, command, name] = ['text', 'url', 'command', 'name'].map((field) =>
    input.textIfGiven(field),
  );
  if ([text, url, command, name].filter((field) => field !== undefined).length !== 1)
    throw new McpError(
      'invalid_params',
      'Say where the server is: a URL, a file, a command, or one that was found.',
    );
  const [args, headers, env] = [
    input.textsIfGiven('args'),
    input.stringsIfGiven('headers'),
    input.stringsIfGiven('env'),
  ];
  const [cwd, token, revision] = ['cwd', 'token', 'revision'].map((field) => input.textIfGiven(field));
  if (revision !== undefined && revisionOf(revision) === undefined)
    throw new McpError('invalid_params', `"${revision.slice(0, 40)}" is not a revision.`);
  return {
    ...(text !== undefined && { text }),
    ...(url !== undefined && { url }),
    ...(command !== undefined && { command }),
    ...(name !== undefined && { name }),
    ...(args && { args }),
    ...(headers && { headers }),
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
    ...(token !== undefined && { token }),
    ...(revision !== undefined && { revision }),
  };
}

function readRoot(value: unknown): { uri: string; name?: string } {
  const { uri, name } = isObject(value) ? value : {};
  if (typeof uri !== 'string' || !uri.startsWith('file://') || uri.length > 4000)
    throw new McpError('invalid_params', 'A root has a URI that begins with file://');
  return { uri, ...(typeof name === 'string' && name !== '' && { name: name.slice(0, 500) }) };
}
