import type { LinkEvents } from '../../protocol/link.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import type { Send } from './renewed-session.js';

/** The log level of a session. Each call has a level of its own; a session has one, so the latest counts. */
export class SessionLogLevel {
  readonly #send: Send;
  readonly #problem: LinkEvents['problem'];
  #level: LogLevel | undefined;
  /** Pending while the level is being set. */
  #setting: Promise<void> | undefined;

  constructor(send: Send, problem: LinkEvents['problem']) {
    this.#send = send;
    this.#problem = problem;
  }

  /** Sets the level, and returns the promise to await before the call. Without a level, the session keeps its own. */
  apply(level: LogLevel | undefined): Promise<void> | undefined {
    if (level === undefined) return undefined;
    if (level !== this.#level) {
      this.#level = level;
      const setting = Promise.resolve(this.#setting)
        .then(() => this.#set(level, this.#send))
        .then(() => {
          if (this.#setting === setting) this.#setting = undefined;
        });
      this.#setting = setting;
    }
    return this.#setting;
  }

  async restore(send: Send): Promise<void> {
    if (this.#level !== undefined) await this.#set(this.#level, send);
  }

  async #set(level: LogLevel, send: Send): Promise<void> {
    try {
      await send('logging/setLevel', { level });
    } catch (error) {
      this.#problem(`The server did not accept the log level "${level}"`, error);
    }
  }
}
