// The way from a list into the form of what was opened in it.

import { type Signal, signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** The item that was opened with Enter, until its form has the cursor. */
const entered: Signal<string | undefined> = signal(undefined);

/** Wants the cursor in the form of an item, as soon as the item is shown. */
export function enter(id: string): void {
  entered.value = id;
}

/** Puts the cursor into the form of an item when it is opened with Enter: at the first empty field, or at what the form does. */
export function useEntering(id: string, form: RefObject<HTMLElement | null>): void {
  const wanted = entered.value;
  useEffect(() => {
    if (wanted !== id) return;
    entered.value = undefined;
    const fields = [
      ...(form.current?.querySelectorAll<HTMLInputElement>('input.field, textarea.field, select.field') ??
        []),
    ];
    const target =
      fields.find(({ value }) => value === '') ??
      fields[0] ??
      form.current?.querySelector<HTMLElement>('.button.main');
    target?.focus({ preventScroll: true });
    target?.scrollIntoView({ block: 'nearest' });
  }, [wanted, id]);
}
