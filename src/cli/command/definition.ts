// How a command is defined: its help, its page in the docs and its completion are made from this.

import type { Client } from '../../client/model/client.js';
import type { Handlers } from '../../client/model/handlers.js';
import type { Output } from '../terminal/output.js';
import type { Person } from '../terminal/person.js';

/** A command without the code that runs it. `fullmcp --help` needs no more than this. */
export interface CommandSummary {
  /** The word after `fullmcp`, or several such as `auth login`. */
  readonly name: string;
  /** Its purpose in a few words, beginning with a verb. */
  readonly summary: string;
  /** Whether no list of commands has it. */
  readonly isHidden?: boolean;
  readonly load: () => Promise<Command>;
}

export interface Command {
  /** The words after the name, such as `<target> <tool> [name=value …]`. */
  readonly usage: string;
  /** More about it than the summary: one or two short paragraphs. */
  readonly details?: string;
  readonly options: Options;
  readonly examples: readonly Example[];
  /** The object that `--json` prints, as a TypeScript type, and what it means. */
  readonly json: string;
  /** The fewest and most words that it takes after its name. A command after `--` counts as one. */
  readonly words: readonly [least: number, most: number];
  readonly run: (input: Typed) => Promise<void>;
}

interface Example {
  readonly line: string;
  readonly says: string;
}

export interface Option {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** May be given several times. */
  readonly multiple?: boolean;
  /** The name of the value in the help, such as `ms` or `file`. */
  readonly value?: string;
  /** The name of a number that may follow a flag, as in `--http 8080`. */
  readonly number?: string;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
  readonly help: string;
  /** The line to type instead of an option of earlier versions. The option works until 2.0, and nothing lists it. */
  readonly now?: string;
}

export type Options = Readonly<Record<string, Option>>;

/** A connection that several commands use, one after the other. */
export interface SharedConnection {
  readonly client: () => Promise<Client>;
  /** Answers the questions of the server with these handlers while the work runs. */
  readonly during: (handlers: Handlers, work: () => Promise<void>) => Promise<void>;
  /** Remembers a task that was started. */
  readonly addTask: (id: string) => void;
}

/** The words and options that a user typed after the name of a command. */
export interface Typed {
  readonly words: readonly string[];
  /** The command after `--`; undefined if there is none. */
  readonly process: readonly string[] | undefined;
  /** Whether a file named the target, and not the user: such an address gets no token of the environment. Default: false. */
  readonly isFromFile?: boolean;
  readonly text: (option: string) => string | undefined;
  readonly texts: (option: string) => readonly string[];
  readonly flag: (option: string) => boolean;
  readonly out: Output;
  /** The person at the terminal, who may not be there. */
  readonly person: () => Person;
  /** Aborts when the user presses Ctrl+C. */
  readonly signal: AbortSignal;
  /** The connection of the prompt that the command runs in. Default: the command opens one of its own. */
  readonly kept?: SharedConnection;
  /** Runs another command with a target that takes the place of its first word. Fails with the exit code of that command. */
  readonly runLine: (line: readonly string[], target: string) => Promise<void>;
}
