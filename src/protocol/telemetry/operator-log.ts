import { atLeast, type LogLevel } from '../tables/log-level.js';
import { type LogEntry, LogLines, printJson, UNREADABLE } from './log-line.js';
import { type LogSettings, logSettingsOf } from './log-settings.js';

// The log for the operator: lines on standard error, the only stream that the stdio transport leaves free.

/** While this many bytes wait for a reader of standard error, further messages are dropped, so that they do not fill the memory. */
const MAX_UNREAD = 1024 * 1024;

/** Receives messages for the operator. */
type Logger = (level: 'info' | 'warning' | 'error', message: string, detail?: unknown) => void;

/** Writes messages for the operator to standard error. Never throws, and never waits. */
export class OperatorLog {
  readonly #server: string | undefined;
  readonly #lines = new LogLines();
  #settings: LogSettings | undefined;
  #dropped = 0;

  constructor(server?: string) {
    this.#server = server;
  }

  /** Changes the settings, which are those of the environment until then. */
  provide(settings: Partial<LogSettings>): void {
    this.#settings = { ...this.#current(), ...settings };
  }

  /** Writes a message, with an error or another value. */
  readonly log = (level: LogLevel, message: string, detail?: unknown): void => {
    if (atLeast(level, this.#current().level)) this.#print({ level, message, detail });
  };

  /** The logger of a program, so that it never throws: a line that it fails to write is written here. Default: this log. */
  loggerOf(own: Logger | undefined): Logger {
    // One that is not a function is reported elsewhere.
    if (typeof own !== 'function') return this.log;
    return (...line) => {
      try {
        const writing: unknown = own(...line);
        // Nobody else would hear that an async function has failed, and that would end the process.
        if (writing instanceof Promise) writing.catch(() => this.log(...line));
      } catch {
        this.log(...line);
      }
    };
  }

  /** Writes an entry as a line of JSON, whatever the format of messages is. */
  readonly entry = (entry: { readonly level: LogLevel }): void => {
    if (atLeast(entry.level, this.#current().level)) this.#write(() => printJson(entry));
  };

  #print(entry: LogEntry): void {
    const { format } = this.#current();
    const all = { ...entry, server: this.#server };
    this.#write(() => {
      try {
        return this.#lines[format](all);
      } catch {
        // A value that the program made may have getters that throw.
        return this.#lines[format]({ ...all, detail: UNREADABLE });
      }
    });
  }

  #write(print: () => string): void {
    const stderr = globalThis.process?.stderr;
    if (stderr?.listeners?.('error').includes(ignore) === false) stderr.on('error', ignore);
    // Without a reader, Node keeps what is written to a pipe.
    if ((stderr?.writableLength ?? 0) > MAX_UNREAD) {
      this.#dropped++;
      return;
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0)
      this.log('warning', `${dropped} messages were not logged, because nobody read standard error.`);
    try {
      console.error(print());
    } catch {
      // A log must not end the call that it is about.
    }
  }

  #current(): LogSettings {
    if (this.#settings !== undefined) return this.#settings;
    const { process } = globalThis;
    const format = process?.stderr === undefined || process.stderr.isTTY ? 'text' : 'json';
    this.#settings = { level: 'info', format };
    try {
      this.#settings = { ...this.#settings, ...logSettingsOf(process?.env ?? {}) };
    } catch (error) {
      // `serve` and others refuse to start. A handler in another framework continues.
      this.log('warning', (error as Error).message);
    }
    return this.#settings;
  }
}

function ignore(): void {
  // Without a listener, a write after the reader has closed its end would end the process. There is nowhere left to report it.
}
