// Says that something was done somewhere else, such as "Copied". Never an error, never a question.

import { type Signal, signal } from '@preact/signals';

const SHOWN_MS = 1800;

export const toasted: Signal<string | undefined> = signal(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

export function toast(text: string): void {
  toasted.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    toasted.value = undefined;
  }, SHOWN_MS);
}
