/** Text that a program writes bit by bit, and that a test waits for. */
export class Told {
  #text = '';
  #from = 0;
  #wake: () => void = () => undefined;

  /** Takes everything that was written so far. */
  readonly set = (text: string): void => {
    this.#text = text;
    this.#wake();
  };

  /** Takes what was written since the last time. */
  readonly add = (text: string | Uint8Array): void => this.set(this.#text + String(text));

  get text(): string {
    return this.#text;
  }

  /** Waits until the text has something that was not waited for before, and returns the match. */
  async next(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#text.slice(this.#from));
      if (found) {
        this.#from += found.index + found[0].length;
        return found;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
