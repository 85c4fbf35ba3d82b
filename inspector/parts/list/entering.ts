// The way from a list into the form of what was opened in it.

import { type Signal, signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** The item that was opened with Enter, or at a line of its text, until its form has the cursor. */
const entered: Signal<{ readonly id: string; readonly line?: number } | undefined> = signal(undefined);

/** Wants the cursor in the form of an item, as soon as the item is shown. */
export function enter(id: string): void {
  entered.value = { id };
}

/** Wants the cursor at a line of the text in the form of an item, as soon as the item is shown. */
export function enterAtLine(id: string, line: number): void {
  entered.value = { id, line };
}

/** Puts the cursor into the form of an item when it is opened with Enter: at the first empty field, or at what the form does. */
export function useEntering(id: string, form: RefObject<HTMLElement | null>): void {
  const wanted = entered.value;
  useEffect(() => {
    if (wanted?.id !== id) return;
    entered.value = undefined;
    const text = wanted.line === undefined ? null : form.current?.querySelector('textarea');
    if (text) return placeAt(text, wanted.line as number);
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

function placeAt(text: HTMLTextAreaElement, line: number): void {
  const lines = text.value.split('\n');
  const at = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  text.focus({ preventScroll: true });
  text.setSelectionRange(at, at);
  // The line is the third one that can be seen.
  text.scrollTop = (text.scrollHeight * (line - 3)) / lines.length;
  text.scrollIntoView({ block: 'nearest' });
}
