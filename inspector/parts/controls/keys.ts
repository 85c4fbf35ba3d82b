// The keyboard of the page. A part that is shown binds its keys; the latest one that is shown gets a key first.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { hasLetterKeys } from '../../state/settings.js';
import { closeTopmost } from '../popup/layers.js';

/** By key, as in `r`, `Escape`, `Ctrl+Enter`, `Alt+d`. Returning false lets the next one have it. */
export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => false | void>>;

/** Keys stop here: a window above the page hides everything that was bound before it. */
const WALL = { current: undefined };
const bound: { readonly current: KeyMap | undefined }[] = [];

/** Binds keys as long as the component is shown: from before its first frame, and not a frame longer. */
export function useKeys(keys: KeyMap): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    bound.push(latest);
    return () => {
      bound.splice(bound.indexOf(latest), 1);
    };
  }, []);
}

/** Lets the keys that were bound before rest as long as the component is shown. */
export function useKeyWall(): void {
  useLayoutEffect(() => {
    bound.push(WALL);
    return () => {
      bound.splice(bound.lastIndexOf(WALL), 1);
    };
  }, []);
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.key === 'Escape' && closeTopmost()) {
    event.preventDefault();
    return;
  }
  const name = nameOf(event);
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (isPlain && event.key !== 'Escape') {
    if (isTyping(event.target)) return;
    // Enter and the space bar belong to the button or link that has the focus.
    if (event.key === 'Enter' && isActive(event.target)) return;
    if (event.key.length === 1 && !hasLetterKeys.value) return;
  }
  for (let at = bound.length - 1; at >= 0; at--) {
    const keys = bound[at]?.current;
    if (keys === undefined) return;
    const action = keys[name];
    if (action === undefined || action(event) === false) continue;
    event.preventDefault();
    return;
  }
});

function nameOf(event: KeyboardEvent): string {
  // With Alt, some systems type another character.
  const letter = event.altKey && event.code.startsWith('Key') ? event.code.slice(3) : event.key;
  const key = letter.length === 1 ? letter.toLowerCase() : letter;
  return `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}${key}`;
}

/** Whether keys belong to the field that has the focus. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !['checkbox', 'radio', 'button', 'file'].includes(target.type);
  return (
    target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable
  );
}

function isActive(target: EventTarget | null): boolean {
  return target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement;
}
