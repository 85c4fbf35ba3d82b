import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.js';
import { useKeys } from './keys.js';

export interface MenuItem {
  readonly id: string;
  readonly content: ComponentChildren;
  readonly isCurrent?: boolean;
  readonly onPick: () => void;
}

/** A button that opens a list of things to pick. */
export function Menu({
  items,
  children,
  label,
  isUpwards = false,
}: {
  readonly items: readonly MenuItem[];
  /** The face of the button. */
  readonly children: ComponentChildren;
  readonly label: string;
  readonly isUpwards?: boolean;
}): VNode {
  const isOpen = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const close = () => {
    isOpen.value = false;
  };
  const focusOn = (at: number) => box.current?.querySelectorAll<HTMLElement>('[role=menuitem]')[at]?.focus();
  useKeys({
    Escape: () => {
      if (!isOpen.value) return false;
      close();
      box.current?.querySelector('button')?.focus();
      return undefined;
    },
  });
  useEffect(() => {
    if (!isOpen.value) return undefined;
    focusOn(
      Math.max(
        0,
        items.findIndex(({ isCurrent }) => isCurrent),
      ),
    );
    const leave = (event: Event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) close();
    };
    addEventListener('pointerdown', leave);
    addEventListener('focusin', leave);
    return () => {
      removeEventListener('pointerdown', leave);
      removeEventListener('focusin', leave);
    };
  }, [isOpen.value]);
  const move = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const all = [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + by + all.length) % Math.max(1, all.length)]?.focus();
  };
  return (
    <div class="menu" ref={box}>
      <button
        type="button"
        class="button quiet"
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        aria-controls={isOpen.value ? id : undefined}
        title={label}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {children}
        <Icon name={isUpwards ? 'up' : 'down'} size={12} />
      </button>
      {isOpen.value && (
        <div
          class={isUpwards ? 'menu-items is-upwards' : 'menu-items'}
          role="menu"
          id={id}
          aria-label={label}
          tabIndex={-1}
          onKeyDown={move}
        >
          {items.map((item) => (
            <button
              key={item.id}
              type="button"
              role="menuitem"
              class={item.isCurrent ? 'menu-item is-current' : 'menu-item'}
              tabIndex={-1}
              onClick={() => {
                close();
                box.current?.querySelector('button')?.focus();
                item.onPick();
              }}
            >
              {item.content}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
