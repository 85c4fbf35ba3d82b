// The commands about calls: beginning, answering, stopping and repeating them.

import { McpError } from '../../protocol/errors.js';
import type { Commands } from '../contract/inspector.js';
import { LISTS } from '../stories/story-book.js';
import type { StoryRecord } from '../stories/story-record.js';
import { act, actionOf, callTool, followById, request } from './actions.js';
import { type CommandParts, type CommandTable, storyIn } from './command-table.js';
import { type InspectedConnection, revisionOf } from './connection/connection.js';
import { answerProblem } from './connection/handlers.js';
import type { CommandInput } from './input.js';

type Names =
  | 'call'
  | 'read'
  | 'prompt'
  | 'request'
  | 'again'
  | 'complete'
  | 'subscribe'
  | 'unsubscribe'
  | 'stop'
  | 'answer'
  | 'forgetAnswers'
  | 'followTask'
  | 'pin';

export function callCommands({ connections }: CommandParts): CommandTable<Names> {
  const { asking } = connections.shared;
  const of = (input: CommandInput): InspectedConnection => connections.get(input.text('connection'));
  const storyOf = (input: CommandInput): StoryRecord => storyIn(input, { connections });

  return {
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
    again: async (input) => {
      const story = storyOf(input);
      requireComplete(story);
      return { story: again(story, await connectionFor(story, input)).id };
    },
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
    async pin(input) {
      const story = storyOf(input);
      story.isPinned = input.flag('pinned');
      story.changed();
      return {};
    },
  };

  /** The connection of a story, or the one that a command wants instead. */
  async function connectionFor(story: StoryRecord, input: CommandInput): Promise<InspectedConnection> {
    const connection = connections.get(input.textIfGiven('connection') ?? story.connection);
    const wanted = input.textIfGiven('revision');
    if (wanted === undefined) return connection;
    const revision = revisionOf(wanted);
    if (revision === undefined)
      throw new McpError('invalid_params', `"${wanted.slice(0, 40)}" is not a revision.`);
    return connections.inRevision(connection, revision);
  }

  function again(story: StoryRecord, connection: InspectedConnection): StoryRecord {
    const { kind, title, method, args = {}, id: repeats } = story;
    switch (kind) {
      case 'tool': {
        const asTask = story.task !== undefined || story.earlier?.isTask === true;
        return callTool(connection, { tool: title, args, asTask, repeats }).story;
      }
      case 'task':
        return followById(connection, String(args['taskId'])).story;
      case 'subscription':
        if (title === LISTS) throw notRepeatable();
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
        throw notRepeatable();
      default:
        return kind satisfies never;
    }
  }

  async function complete(input: CommandInput): Promise<Commands['complete'][1]> {
    const connection = of(input);
    const { prompt, template } = input.object('ref');
    const [argument, value] = [input.text('argument', 1000), input.words('value')];
    const filled = input.stringsIfGiven('context');
    const ref = typeof prompt === 'string' ? { prompt } : { template: String(template ?? '') };
    if (prompt === undefined && typeof template !== 'string')
      throw new McpError('invalid_params', 'complete: "ref" must have a "prompt" or a "template".');
    const title = `${'prompt' in ref ? ref.prompt : ref.template} ${argument}`;
    const args = {
      ref:
        'prompt' in ref
          ? { type: 'ref/prompt', name: ref.prompt }
          : { type: 'ref/resource', uri: ref.template },
      argument: { name: argument, value },
      ...(filled && { context: { arguments: filled } }),
    };
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

/** The history has no secrets, and no large arguments: what is left of them must not be sent. */
function requireComplete({ earlier }: StoryRecord): void {
  const [lack] = earlier?.facts.lacks.filter((one) => one !== 'result') ?? [];
  if (lack === undefined) return;
  throw new McpError(
    'invalid_request',
    lack === 'secrets'
      ? 'The history does not keep secrets. Put the arguments into the form, and fill in what is missing.'
      : 'The arguments of this call were too large for the history.',
  );
}

function notRepeatable(): McpError {
  return new McpError('invalid_request', 'This entry is not a request that can be sent again.');
}
