// The person at the terminal, if there is one, and the lines that the person types.

import { createInterface, type Interface } from 'node:readline';

const MAX_EARLY_LINES = 1000;

export interface Person {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Whether a person can see questions and answer them. */
  readonly isPresent: boolean;
  /** Called at Ctrl+C, which the terminal does not turn into a signal while a line is edited. */
  readonly interrupt: () => void;
  /** Opens a page in the person's browser. */
  readonly openPage: (url: string) => Promise<void>;
}

/** Reads lines from the keyboard. Between `close` and the next line, the terminal is as it was. */
export class PersonLines {
  readonly #person: Person;
  // Lines that were pasted before they were asked for.
  readonly #early: string[] = [];
  #interface: Interface | undefined;
  #waiting: ((line: string | undefined) => void) | undefined;
  /** Whether Ctrl+D was typed before a line was asked for. */
  #isOver = false;

  constructor(person: Person) {
    this.#person = person;
  }

  /** Shows a prompt and returns the line that is typed after it; undefined at Ctrl+D. The prompt must be clean. */
  line(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const early = this.#early.shift();
    if (early !== undefined) {
      this.#person.output.write(`${prompt}\n`);
      return Promise.resolve(early);
    }
    if (this.#isOver) {
      this.#isOver = false;
      return Promise.resolve(undefined);
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting = undefined;
        this.close();
        reject(signal.reason as Error);
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting = (line) => {
        this.#waiting = undefined;
        signal.removeEventListener('abort', stop);
        resolve(line);
      };
      this.#interface ??= this.#open();
      this.#interface.setPrompt(prompt);
      this.#interface.prompt();
    });
  }

  /** Gives the keyboard back, so that Ctrl+C is a signal again. */
  close(): void {
    const opened = this.#interface;
    this.#interface = undefined;
    opened?.close();
  }

  #open(): Interface {
    const { input, output, interrupt } = this.#person;
    const opened = createInterface({ input, output, terminal: true, historySize: 0 });
    opened.on('line', (line) => {
      if (this.#waiting) this.#waiting(line);
      else if (this.#early.length < MAX_EARLY_LINES) this.#early.push(line);
    });
    opened.on('SIGINT', interrupt);
    opened.on('close', () => {
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
