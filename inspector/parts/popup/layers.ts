// The layers above the page: menus, suggestions and dialogs, in the order in which they were opened. Escape closes the topmost one.

import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

const layers: { readonly close: () => void }[] = [];

/** Closes the layer that was opened last. Returns false if there is none. */
export function closeTopmost(): boolean {
  const top = layers.at(-1);
  top?.close();
  return top !== undefined;
}

/**
 * Makes a layer of a component as long as it is shown. When it closes with the focus inside, the focus returns to where it was, or to
 * `home` if it was nowhere: not every browser gives it to a button that is clicked.
 */
export function useLayer(close: () => void, home?: RefObject<HTMLElement | null>): void {
  const latest = useRef(close);
  latest.current = close;
  useLayoutEffect(() => {
    const before = isFocusNowhere() ? home?.current : document.activeElement;
    const layer = { close: () => latest.current() };
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      // Not before the layer is gone from the page: until then, the focus may still be in it.
      queueMicrotask(() => {
        if (isFocusNowhere() && before instanceof HTMLElement) before.focus({ preventScroll: true });
      });
    };
  }, []);
}

export function isFocusNowhere(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
