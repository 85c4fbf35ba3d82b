import type { LinkEvents } from '../../protocol/link.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import type { Send } from './renewed-session.js';

/** The log level of calls as that of the session, which has one for all: the latest. */
export class SessionLogLevel {
  readonly #send: Send;
  readonly #problem: LinkEvents['problem'];
  #level: LogLevel | undefined;
  /** While the server is being told. */
  #setting: Promise<void> | undefined;

  constructor(send: Send, problem: LinkEvents['problem']) {
    this.#send = send;
    this.#problem = problem;
  }

  /** What to wait for before a call of this level. A session cannot be told that no messages are wanted. */
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
