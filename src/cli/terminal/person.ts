// The person at the terminal, if there is one, and the lines that the person types.

import { createInterface, type Interface, type ReadLineOptions } from 'node:readline';

const MAX_EARLY_LINES = 1000;

export interface Person {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Whether a person can see questions and answer them. */
  readonly isPresent: boolean;
  /** Whether single keys may be read: the system stops a program in the background that does. Default: true. */
  readonly isInForeground?: () => boolean;
  /** Called at Ctrl+C, which the terminal does not turn into a signal while a line is edited. */
  readonly interrupt: () => void;
  /** Handles Ctrl+C in place of the program, until the returned function is called. */
  readonly onInterrupt: (handle: () => void) => () => void;
  /** Opens a page in the person's browser. */
  readonly openPage: (url: string) => Promise<void>;
  /** The lines of the prompt that the person is at. A question of a command there is answered with them. Default: new ones. */
  readonly lines?: PersonLines;
}

/** How a line of a prompt is edited. A line without it, which answers a question, is neither completed nor remembered. */
export interface LineEditing {
  /** The words that may take the place of the last one, and that one, as it was typed. */
  readonly complete: (line: string) => Promise<[words: string[], typed: string]>;
  /** Earlier lines, the last one first. */
  readonly history: readonly string[];
  /** Called at Ctrl+C with the text that was typed. The line is then empty. */
  readonly onInterrupt: (typed: string) => void;
}

/** The lines that a person types: those of a prompt if there is one. */
export function linesOf(person: Person): PersonLines {
  return person.lines ?? new PersonLines(person);
}

/** A person whose lines all questions share: one that was pasted before its question came is not lost. */
export function withOneKeyboard(person: () => Person): () => Person {
  let lines: PersonLines | undefined;
  return () => {
    const one = person();
    lines ??= linesOf(one);
    return { ...one, lines };
  };
}

/** Reads lines from the keyboard. Between `close` and the next line, the terminal is as it was. */
export class PersonLines {
  readonly #person: Person;
  // Lines that were pasted before they were asked for.
  readonly #early: string[] = [];
  /** The part of a line that was pasted before it was asked for. */
  #unfinished = '';
  #interface: Interface | undefined;
  #editing: LineEditing | undefined;
  #waiting: ((line: string | undefined) => void) | undefined;
  /** Whether Ctrl+D was typed before a line was asked for. */
  #isOver = false;

  constructor(person: Person) {
    this.#person = person;
  }

  /** Shows a prompt and returns the line that is typed after it; undefined at Ctrl+D. The prompt must be clean. */
  line(prompt: string, signal: AbortSignal, editing?: LineEditing): Promise<string | undefined> {
    const early = this.#early.shift();
    if (early !== undefined) {
      this.#person.output.write(`${prompt}\n`);
      return Promise.resolve(early);
    }
    if (this.#isOver) {
      this.#isOver = false;
      return Promise.resolve(undefined);
    }
    if (this.#editing !== editing) this.close();
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting = undefined;
        this.close();
        this.#unfinished = '';
        reject(signal.reason as Error);
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting = (line) => {
        this.#waiting = undefined;
        signal.removeEventListener('abort', stop);
        resolve(line);
      };
      this.#interface ??= this.#open(editing);
      this.#interface.setPrompt(prompt);
      this.#interface.prompt();
      if (this.#unfinished !== '') this.#interface.write(this.#unfinished);
      this.#unfinished = '';
    });
  }

  /** Gives the keyboard back, so that Ctrl+C is a signal again. */
  close(): void {
    const opened = this.#interface;
    this.#interface = undefined;
    if (opened === undefined) return;
    this.#unfinished = opened.line;
    opened.close();
  }

  #open(editing: LineEditing | undefined): Interface {
    const { input, output, interrupt } = this.#person;
    let isOpen = true;
    const opened = createInterface({
      input,
      output,
      terminal: true,
      ...editingOptions(editing, () => isOpen),
    });
    this.#editing = editing;
    opened.on('line', (line) => {
      if (this.#waiting) this.#waiting(line);
      else if (this.#early.length < MAX_EARLY_LINES) this.#early.push(line);
    });
    opened.on('SIGINT', () => {
      if (editing === undefined) {
        // The cursor is still behind the question.
        output.write('^C\n');
        return interrupt();
      }
      const waiting = this.#waiting;
      this.#waiting = undefined;
      const { line } = opened;
      this.close();
      this.#unfinished = '';
      output.write('^C\n');
      editing.onInterrupt(line);
      waiting?.('');
    });
    opened.on('close', () => {
      isOpen = false;
      if (this.#interface === opened) {
        this.#interface = undefined;
        this.#isOver = this.#waiting === undefined;
      }
      // After Ctrl+D the cursor is still behind the prompt.
      if (this.#waiting) output.write('\n');
      this.#waiting?.(undefined);
    });
    return opened;
  }
}

function editingOptions(editing: LineEditing | undefined, isOpen: () => boolean): Partial<ReadLineOptions> {
  if (editing === undefined) return { historySize: 0 };
  return {
    history: [...editing.history],
    historySize: Math.max(1, editing.history.length),
    completer: (line: string, done: (error: null, found: [string[], string]) => void) =>
      void editing.complete(line).then((found) => {
        // A line that has ended since would read on, and lose what is typed for the next one.
        if (isOpen()) done(null, found);
      }),
  };
}
