// The parts that the commands of the page are made of.

import { McpError } from '../../protocol/errors.js';
import type { CommandName, Commands } from '../contract/inspector.js';
import type { InspectorOptions } from '../contract/options.js';
import type { StoryRecord } from '../stories/story-record.js';
import type { Connections } from './connections.js';
import type { CommandInput } from './input.js';
import type { ProjectRequests } from './project-requests.js';
import type { Tapes } from './tapes.js';

export interface CommandParts {
  readonly connections: Connections;
  readonly tapes: Tapes;
  readonly requests: ProjectRequests;
  readonly options: InspectorOptions;
  /** Looks for servers again. */
  readonly find: () => Promise<void>;
}

/** Functions that check their input and answer as the contract says. */
export type CommandTable<Names extends CommandName = CommandName> = {
  readonly [Name in Names]: (input: CommandInput) => Promise<Commands[Name][1]>;
};

/** The story that a command names. */
export function storyIn(
  input: CommandInput,
  { connections }: Pick<CommandParts, 'connections'>,
): StoryRecord {
  const id = input.number('story');
  const story = connections.shared.book.get(id);
  if (story !== undefined) return story;
  throw new McpError('invalid_params', `There is no call ${id}. It may have been cleared.`);
}
