// How wide the page is, as signals.

import { type ReadonlySignal, signal } from '@preact/signals';

/** One column: a phone. */
export const isNarrow: ReadonlySignal<boolean> = matches('(max-width: 720px)');
/** The timeline is a column beside the place. */
export const isWide: ReadonlySignal<boolean> = matches('(min-width: 1101px)');

function matches(query: string): ReadonlySignal<boolean> {
  const list = matchMedia(query);
  const matching = signal(list.matches);
  list.addEventListener('change', () => {
    matching.value = list.matches;
  });
  return matching;
}
