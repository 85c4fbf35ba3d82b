// Looks for words in all messages and stories, a slice at a time, so that the page can draw and scroll meanwhile.

import type { MessageHead } from '../../../src/inspector/contract/message.js';
import type { Story } from '../../../src/inspector/contract/story.js';

export interface SearchClock {
  /** Resolves when the page has had the time to draw. */
  readonly pause: () => Promise<void>;
  readonly now: () => number;
}

const SLICE_MS = 8;
/** Asking for the time costs more than looking at a message: it is asked after this many. */
const BLOCK = 128;

// The text of a message in lower case. Heads never change, so it is made once, and forgotten with its head.
const texts = new WeakMap<MessageHead, string>();

/** A search for one text. It remembers how far it has looked, so that new messages alone are looked at. */
export class Search {
  readonly query: string;
  /** The stories that have the text in their title, or in one of their messages. */
  readonly stories: Set<number> = new Set();
  /** The messages that have the text. */
  readonly messages: Set<number> = new Set();
  readonly #needle: string;
  readonly #clock: SearchClock;
  #lastStory = -1;
  #lastMessage = -1;
  #isStopped = false;

  constructor(query: string, clock: SearchClock) {
    this.query = query;
    this.#needle = query.toLowerCase();
    this.#clock = clock;
  }

  /** Looks at everything that it has not seen yet. Resolves to false if it was stopped. */
  async lookAt(stories: readonly Story[], messages: readonly MessageHead[]): Promise<boolean> {
    const newStories = itemsAfter(stories, this.#lastStory, ({ id }) => id);
    const newMessages = itemsAfter(messages, this.#lastMessage, ({ seq }) => seq);
    this.#lastStory = newStories.at(-1)?.id ?? this.#lastStory;
    this.#lastMessage = newMessages.at(-1)?.seq ?? this.#lastMessage;
    await this.#each(newStories, ({ id, title, method }) => {
      if (this.#has(title.toLowerCase()) || this.#has(method.toLowerCase())) this.stories.add(id);
    });
    await this.#each(newMessages, (head) => {
      if (!this.#has(textOf(head))) return;
      this.messages.add(head.seq);
      if (head.story !== undefined) this.stories.add(head.story);
    });
    return !this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
  }

  #has(text: string): boolean {
    return text.includes(this.#needle);
  }

  async #each<T>(items: readonly T[], look: (item: T) => void): Promise<void> {
    let began = this.#clock.now();
    for (let start = 0; start < items.length && !this.#isStopped; start += BLOCK) {
      for (const item of items.slice(start, start + BLOCK)) look(item);
      if (this.#clock.now() - began < SLICE_MS) continue;
      await this.#clock.pause();
      began = this.#clock.now();
    }
  }
}

function textOf(head: MessageHead): string {
  let text = texts.get(head);
  if (text === undefined) {
    text = `${head.method ?? ''} ${head.name ?? ''} ${head.preview}`.toLowerCase();
    texts.set(head, text);
  }
  return text;
}

/** The end of a list in the order of `numberOf`, beginning after `number`. */
export function itemsAfter<T>(
  items: readonly T[],
  number: number,
  numberOf: (item: T) => number,
): readonly T[] {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && numberOf(item) <= number) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? items : items.slice(low);
}
