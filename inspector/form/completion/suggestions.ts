// Values that the server suggests while somebody types: asked for after a pause, and only the answer to the latest text counts.

import { type Signal, signal } from '@preact/signals';
import type { Commands } from '../../../src/inspector/contract/inspector.js';

/** The prompt or the URI template to which the argument belongs. */
export type CompletionSource = Commands['complete'][0]['ref'];

export interface Suggested {
  readonly values: readonly string[];
  /** The number of values that exist, if the server knows it. */
  readonly total?: number;
  readonly hasMore?: boolean;
}

type Ask = (value: string, context: Readonly<Record<string, string>>) => Promise<Suggested>;

const PAUSE_MS = 150;
const MAX_SHOWN = 100;
const NOTHING: Suggested = { values: [] };

export class Suggestions {
  readonly suggested: Signal<Suggested> = signal(NOTHING);
  readonly isAsking: Signal<boolean> = signal(false);
  readonly failure: Signal<string | undefined> = signal(undefined);
  readonly #ask: Ask;
  readonly #pauseMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Grows with each text: an answer to an earlier one is dropped. */
  #turn = 0;

  constructor(ask: Ask, pauseMs = PAUSE_MS) {
    this.#ask = ask;
    this.#pauseMs = pauseMs;
  }

  /** Asks for values that complete the text, given the values of the other fields. */
  type(value: string, context: Readonly<Record<string, string>>): void {
    const turn = this.#next();
    this.isAsking.value = true;
    this.#timer = setTimeout(() => {
      this.#ask(value, context).then(
        ({ values, total, hasMore }) => {
          if (turn !== this.#turn) return;
          this.isAsking.value = false;
          this.failure.value = undefined;
          const unique = [...new Set(values.filter((each) => typeof each === 'string'))];
          this.suggested.value = {
            values: unique.slice(0, MAX_SHOWN),
            ...(total !== undefined && { total }),
            hasMore: hasMore === true || unique.length > MAX_SHOWN,
          };
        },
        (error: unknown) => {
          if (turn !== this.#turn) return;
          this.isAsking.value = false;
          this.suggested.value = NOTHING;
          this.failure.value = error instanceof Error ? error.message : String(error);
        },
      );
    }, this.#pauseMs);
  }

  /** Forgets the values, and the answers that are still under way. */
  clear(): void {
    this.#next();
    this.isAsking.value = false;
    this.suggested.value = NOTHING;
    this.failure.value = undefined;
  }

  #next(): number {
    clearTimeout(this.#timer);
    this.#turn += 1;
    return this.#turn;
  }
}

/** The filled values of the other fields. */
export function contextOf(
  values: Readonly<Record<string, string>>,
  argument: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => name !== argument && value !== ''),
  );
}
