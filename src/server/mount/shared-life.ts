/** The parts of a server that run once: for the server itself, and for the servers that it is mounted in. */
export class SharedLife {
  readonly #open: () => Promise<void>;
  readonly #close: () => Promise<void>;
  #users = 0;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(open: () => Promise<void>, close: () => Promise<void>) {
    this.#open = open;
    this.#close = close;
  }

  /** Starts the parts for one more user, unless they run. A start that failed is tried again by the next user. */
  async start(): Promise<void> {
    this.#users += 1;
    this.#opening ??= this.#open();
    try {
      await this.#opening;
    } catch (error) {
      this.#users -= 1;
      this.#opening = undefined;
      throw error;
    }
  }

  /** Counts a user off. After the last one, the parts are closed. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users <= 0) await this.close();
  }

  /** Closes the parts, whoever uses them. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }
}
