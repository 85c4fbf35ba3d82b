// `fullmcp <target>`: a prompt with one connection, at which a person lists, calls, reads and answers.

import { join } from 'node:path';
import { closestName } from '../../schema/explain/closest-name.js';
import { cleanLine } from '../../tooling/clean.js';
import { canAsk } from '../asking/ask-arguments.js';
import type { Command, Options, Typed } from '../command/definition.js';
import { exitOf, usageError } from '../command/failures.js';
import { parseInput } from '../command/parse.js';
import { namesAt } from '../completion/server-names.js';
import { candidates } from '../completion/shell-words.js';
import { splitWords } from '../inspecting/split-command.js';
import { LOG_OPTIONS } from '../target/log.js';
import { stateFolder } from '../target/login/login-folder.js';
import { TARGET_OPTIONS } from '../target/options.js';
import { takeTarget } from '../target/read-target.js';
import { type Person, PersonLines } from '../terminal/person.js';
import { wrapLine } from '../terminal/wrap.js';
import { KeptConnection } from './kept-connection.js';
import { LineHistory } from './line-history.js';

/** The commands of the prompt, without their target. */
const COMMANDS: Readonly<Record<string, { readonly says: string; readonly load: () => Promise<Command> }>> = {
  list: {
    says: 'list tools, resources and prompts',
    load: async () => (await import('../commands/use/list.js')).list,
  },
  call: {
    says: 'call a tool; without a name, choose one',
    load: async () => (await import('../commands/use/call.js')).call,
  },
  read: { says: 'read a resource', load: async () => (await import('../commands/use/read.js')).read },
  prompt: { says: 'get a prompt', load: async () => (await import('../commands/use/prompt.js')).prompt },
  tasks: {
    says: 'a task, or those that were started here',
    load: async () => (await import('../commands/use/tasks.js')).tasks,
  },
  info: {
    says: 'show the name, the revision, the features and the round trip of the server',
    load: async () => (await import('../commands/use/info.js')).info,
  },
};
const WORDS = [...Object.keys(COMMANDS), 'help', 'exit'];
const COMPLETION_MS = 3000;

/** `fullmcp <target>`. */
export const prompt: Command = {
  usage: '<target>',
  words: [1, 1],
  options: { ...LOG_OPTIONS, ...TARGET_OPTIONS },
  examples: [],
  json: 'that of list',
  async run(input) {
    // A program gets an answer, and no prompt.
    if (!canAsk(input)) return (await import('../commands/use/list.js')).list.run(input);
    const { target } = await takeTarget(input);
    const kept = new KeptConnection(input, target);
    try {
      await new Prompt(input, kept).run();
    } finally {
      await kept.close();
    }
  },
};

class Prompt {
  readonly #input: Typed;
  readonly #kept: KeptConnection;
  readonly #person: Person;
  readonly #lines: PersonLines;
  readonly #history = new LineHistory(join(stateFolder(), 'prompt-history.json'));
  /** How often Ctrl+C was pressed at an empty line. */
  #interrupts = 0;

  constructor(input: Typed, kept: KeptConnection) {
    this.#input = input;
    this.#kept = kept;
    this.#person = input.person();
    this.#lines = new PersonLines(this.#person);
  }

  async run(): Promise<void> {
    const { out, signal } = this.#input;
    const { server } = await this.#kept.client();
    const name = cleanLine(server.info?.name ?? 'server', 30);
    out.note(
      `${name} ${cleanLine(server.info?.version ?? '', 30)} · MCP ${server.revision}. Type help, press Tab, or leave with exit.`,
    );
    await this.#history.load();
    for (;;) {
      const line = await this.#lines.line(`${name}> `, signal, {
        complete: (typed) => this.#complete(typed),
        history: this.#history.lines,
        onInterrupt: (typed) => this.#interrupted(typed),
      });
      this.#lines.close();
      if (line === undefined || this.#interrupts > 1 || /^\s*(?:exit|quit)\s*$/.test(line)) return;
      if (line.trim() === '') continue;
      this.#interrupts = 0;
      await this.#history.add(line);
      await this.#runLine(line);
      signal.throwIfAborted();
    }
  }

  #interrupted(typed: string): void {
    this.#interrupts = typed === '' ? this.#interrupts + 1 : 0;
    if (this.#interrupts === 1) this.#input.out.note('Ctrl+C again, Ctrl+D or exit leaves the prompt.');
  }

  /** Runs one line. Its failure is shown, and the prompt stays. Ctrl+C ends the line alone; a second time, everything. */
  async #runLine(line: string): Promise<void> {
    const { out } = this.#input;
    const stopping = new AbortController();
    const release = this.#person.onInterrupt(() => {
      release();
      stopping.abort();
    });
    try {
      await this.#command(splitWords(line), stopping.signal);
    } catch (error) {
      out.wait();
      if (stopping.signal.aborted) out.note('Cancelled.');
      else if (this.#input.signal.aborted || exitOf(error) !== 'interrupted')
        out.failure(error instanceof Error ? error.message : String(error), {});
    } finally {
      release();
      this.#lines.close();
    }
  }

  async #command([name = '', ...words]: readonly string[], stopped: AbortSignal): Promise<void> {
    if (name === 'help') return this.#help(words[0]);
    const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (known === undefined) throw await this.#unknown(name);
    if (name === 'tasks' && words.length === 0) return this.#listTasks();
    const command = await known.load();
    const { word } = this.#kept.target;
    const { process, out, runLine } = this.#input;
    const signal = AbortSignal.any([this.#input.signal, stopped]);
    const person = (): Person => ({ ...this.#person, lines: this.#lines });
    const [least, most] = command.words;
    const own = {
      ...command,
      words: [least - 1, most - 1],
      options: withoutTarget(command.options),
      usage: command.usage.replace(/^<target> ?/, ''),
    } as const;
    const parsed = parseInput(name, own, words, { out, person, signal, runLine, program: '' });
    if (parsed.process) throw usageError('The prompt has one server, so that no command can follow `--`.');
    await command.run({
      ...parsed,
      ...{ process, words: process ? parsed.words : [word, ...parsed.words], kept: this.#kept },
    });
  }

  #listTasks(): void {
    const { out } = this.#input;
    for (const id of this.#kept.tasks) out.value(id);
    if (this.#kept.tasks.length === 0)
      out.note('No task was started here. `call <tool> --detach` starts one.');
  }

  async #help(name: string | undefined): Promise<void> {
    const { out } = this.#input;
    const known = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (name !== undefined && known !== undefined) {
      const { usage, details = '' } = await known.load();
      out.styled(`${out.style('bold', name)} ${usage.replace(/^<target> ?/, '')}`);
      return out.value(wrapLine(details.replaceAll('\n', ' '), out.width, ''));
    }
    const line = (word: string, says: string): void =>
      out.styled(wrapLine(`  ${out.style('cyan', word.padEnd(8))}${says}`, out.width, ' '.repeat(10)));
    for (const [word, { says }] of Object.entries(COMMANDS)) line(word, says);
    line('exit', 'leave, as Ctrl+D does');
    const more =
      'Tab completes. Quotes are those of a shell: call add note="two words". `help call` says more.';
    out.value(wrapLine(more, out.width, ''));
  }

  async #unknown(name: string): Promise<Error> {
    const tools = await (await this.#kept.client())
      .tools()
      .all()
      .catch(() => []);
    const close = tools.some((tool) => tool.name === name) ? `call ${name}` : closestName(name, WORDS);
    const hint =
      close === undefined ? ' `help` lists them.' : ` Did you mean ${JSON.stringify(cleanLine(close, 100))}?`;
    return usageError(`The prompt has no command ${JSON.stringify(cleanLine(name, 60))}.${hint}`);
  }

  /** The words that complete the last one. A person who presses Tab has asked for nothing that could fail. */
  async #complete(line: string): Promise<[string[], string]> {
    const typed = /\S*$/.exec(line)?.[0] ?? '';
    try {
      const before = splitWords(line.slice(0, line.length - typed.length));
      const names = await Promise.race([this.#namesAt(before, typed), after(COMPLETION_MS)]);
      const found = candidates(names, typed, { shell: 'bash' });
      const [only] = found;
      return [
        only !== undefined && found.length === 1 && !only.endsWith('=') ? [`${only} `] : [...found],
        typed,
      ];
    } catch {
      return [[], typed];
    }
  }

  async #namesAt([command, ...words]: readonly string[], word: string): Promise<readonly string[]> {
    if (command === undefined) return WORDS;
    if (command === 'help') return Object.keys(COMMANDS);
    const known = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
    if (known === undefined) return [];
    if (word.startsWith('-'))
      return Object.keys(withoutTarget((await known.load()).options)).map((name) => `--${name}`);
    if (command === 'list') return words.length === 0 ? ['tools', 'resources', 'templates', 'prompts'] : [];
    if (command === 'tasks') return words.length === 0 ? this.#kept.tasks : [];
    return namesAt(await this.#kept.client(), words, { command, word });
  }
}

/** The options that belong to the connection are those of the prompt. */
function withoutTarget(options: Options): Options {
  const taken = { ...TARGET_OPTIONS, ...LOG_OPTIONS };
  return Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(taken, name)));
}

function after(ms: number): Promise<readonly string[]> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, []).unref();
  });
}
