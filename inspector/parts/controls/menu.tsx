import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { Icon } from '../icon.js';
import { usePopup } from './use-popup.js';

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
  const { isOpen, box, toggle, leave } = usePopup();
  const id = useId();
  useEffect(() => {
    if (!isOpen.value) return;
    const current = items.findIndex(({ isCurrent }) => isCurrent);
    box.current?.querySelectorAll<HTMLElement>('[role=menuitem]')[Math.max(0, current)]?.focus();
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
        onClick={toggle}
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
                leave();
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
