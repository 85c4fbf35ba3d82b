import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useKeys } from './keys.js';

export interface Popup {
  readonly isOpen: Signal<boolean>;
  /** The element around the button and what it opens. */
  readonly box: RefObject<HTMLDivElement | null>;
  readonly toggle: () => void;
  readonly close: () => void;
  /** Closes it and gives the focus back to its button. */
  readonly leave: () => void;
}

/** Something that a button opens. It closes on Escape, and when the focus or a click goes elsewhere. */
export function usePopup(): Popup {
  const isOpen = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const close = (): void => {
    isOpen.value = false;
  };
  const leave = (): void => {
    close();
    box.current?.querySelector('button')?.focus();
  };
  useKeys({ Escape: () => (isOpen.value ? leave() : false) });
  useEffect(() => {
    if (!isOpen.value) return undefined;
    const closeIfOutside = (event: Event): void => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) close();
    };
    addEventListener('pointerdown', closeIfOutside);
    addEventListener('focusin', closeIfOutside);
    return () => {
      removeEventListener('pointerdown', closeIfOutside);
      removeEventListener('focusin', closeIfOutside);
    };
  }, [isOpen.value]);
  const toggle = (): void => {
    isOpen.value = !isOpen.value;
  };
  return { isOpen, box, toggle, close, leave };
}
