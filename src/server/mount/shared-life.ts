/** The parts of a server that run once: for the server itself, and for the servers that it is mounted in. */
export class SharedLife {
  readonly #open: () => Promise<void>;
  readonly #close: () => Promise<void>;
  #holders = 0;
  #isServed = false;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(open: () => Promise<void>, close: () => Promise<void>) {
    this.#open = open;
    this.#close = close;
  }

  /** Counts one more holder. */
  hold(): void {
    this.#holders += 1;
  }

  /** Counts a holder off. Returns the number of those that are left: the last one closes the parts. */
  letGo(): number {
    this.#holders -= 1;
    return this.#holders;
  }

  /** Starts the parts for the server itself, which holds them until it closes. */
  serve(): Promise<void> {
    if (!this.#isServed) this.hold();
    this.#isServed = true;
    return this.start();
  }

  /** Starts the parts, unless they run. A start that failed is tried again by the next one. */
  start(): Promise<void> {
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Closes the parts, once. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }
}
