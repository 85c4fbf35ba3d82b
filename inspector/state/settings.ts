// The settings that the page remembers in this browser: the theme, the widths of columns, whether single letters are keys.

import { effect, type Signal, signal } from '@preact/signals';

export const theme: Signal<'system' | 'light' | 'dark'> = remembered('theme', 'system');
export const timelineWidth: Signal<number> = remembered('timelineWidth', 440);
export const listWidth: Signal<number> = remembered('listWidth', 264);
/** At most this much of the height is for the form, once there is a result. */
export const formHeight: Signal<number> = remembered('formHeight', 460);
/** Whether a comparison leaves out what is equal. */
export const onlyDifferences: Signal<boolean> = remembered('onlyDifferences', true);
export const hasLetterKeys: Signal<boolean> = remembered('letterKeys', true);

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
});

/** A signal whose value outlives the page; with `sessionStorage`, until its tab is closed. */
export function remembered<T>(
  name: string,
  initial: T,
  storage: 'localStorage' | 'sessionStorage' = 'localStorage',
): Signal<T> {
  const key = `fullmcp.${name}`;
  let value = initial;
  try {
    const text = globalThis[storage].getItem(key);
    if (text !== null) value = JSON.parse(text) as T;
  } catch {
    // A browser without storage, or a value of another version.
  }
  const kept = signal(value);
  effect(() => {
    const text = JSON.stringify(kept.value);
    try {
      globalThis[storage].setItem(key, text);
    } catch {
      // Then it is remembered until the page is closed.
    }
  });
  return kept;
}
