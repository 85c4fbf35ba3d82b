import './popup.css';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useKeyWall } from '../controls/keys.js';
import { useLayer } from './layers.js';

/** A window above the page. The browser keeps the focus inside, and the keys of the page below rest. */
export function Dialog({
  label,
  onClose,
  class: extra = '',
  children,
}: {
  readonly label: string;
  readonly onClose: () => void;
  readonly class?: string;
  readonly children: ComponentChildren;
}): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayer(onClose);
  useKeyWall();
  useEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, too
    <dialog
      ref={dialog}
      class={`dialog ${extra}`}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
