import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useTypedWord } from '../controls/typed-word.js';
import { Icon, type IconName } from '../icon.js';
import { Popover } from './popover.js';

export interface MenuItem {
  readonly id: string;
  readonly content: ComponentChildren;
  readonly isCurrent?: boolean;
  /** Whether it is switched on, for an item that is a switch. */
  readonly isChecked?: boolean;
  /** Whether a line separates it from the item before. */
  readonly hasLine?: boolean;
  readonly onPick: () => void;
  /** Something else that can be done with the item, reached with the right arrow key. */
  readonly aside?:
    | { readonly label: string; readonly icon: IconName; readonly onPick: () => void }
    | undefined;
}

/** A button that opens a list of things to pick. Arrow keys, Home, End and the first letters of an item move in it. */
export function Menu({
  items,
  children,
  label,
  title = label,
  class: extra = '',
}: {
  readonly items: readonly MenuItem[];
  /** The face of the button. */
  readonly children: ComponentChildren;
  /** The name of the menu. */
  readonly label: string;
  /** The words that appear while the mouse is over the button. */
  readonly title?: string;
  readonly class?: string;
}): VNode {
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = () => {
    isOpen.value = false;
  };
  return (
    <div class="menu">
      <button
        ref={button}
        type="button"
        class={`button quiet ${extra}`}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        aria-controls={isOpen.value ? id : undefined}
        title={title}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          isOpen.value = true;
        }}
      >
        {children}
        <Icon name="down" size={12} />
      </button>
      {isOpen.value && (
        <Popover anchor={button} onClose={close}>
          <MenuItems id={id} items={items} label={label} onClose={close} />
        </Popover>
      )}
    </div>
  );
}

function MenuItems({
  id,
  items,
  label,
  onClose,
}: {
  readonly id: string;
  readonly items: readonly MenuItem[];
  readonly label: string;
  readonly onClose: () => void;
}): VNode {
  const list = useRef<HTMLDivElement>(null);
  const findTyped = useTypedWord();
  const mains = () => [...(list.current?.querySelectorAll<HTMLElement>('[data-item]') ?? [])];
  useEffect(() => {
    const current = items.findIndex(({ isCurrent }) => isCurrent);
    mains()[Math.max(0, current)]?.focus();
  }, []);
  const find = (letter: string, from: number): number => {
    const all = mains();
    const begins = (index: number, word: string) =>
      all[index]?.textContent?.trim().toLowerCase().startsWith(word) === true;
    return findTyped(letter, from, { count: all.length, begins });
  };
  const move = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const all = mains();
    const row = document.activeElement?.closest('.menu-row');
    const at = all.findIndex((item) => row?.contains(item));
    const step = stepOf(event.key, at, all.length);
    const isLetter = event.key.length === 1 && event.key !== ' ';
    if (step !== undefined) all[step]?.focus();
    else if (event.key === 'ArrowRight') row?.querySelector<HTMLElement>('.is-aside')?.focus();
    else if (event.key === 'ArrowLeft') all[at]?.focus();
    else if (isLetter) all[find(event.key, at)]?.focus();
    else return;
    event.preventDefault();
    // A letter in a menu is not a key of the page.
    event.stopPropagation();
  };
  const pick = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <div class="menu-items" role="menu" id={id} ref={list} aria-label={label} tabIndex={-1} onKeyDown={move}>
      {items.map(({ id: key, content, isCurrent, isChecked, hasLine, onPick, aside }) => [
        hasLine === true && <hr key={`line ${key}`} />,
        <div key={key} class="menu-row" role="none">
          <button
            type="button"
            {...(isChecked === undefined
              ? { role: 'menuitem' }
              : { role: 'menuitemcheckbox', 'aria-checked': isChecked })}
            data-item
            class={isCurrent ? 'menu-item is-current' : 'menu-item'}
            aria-current={isCurrent ? 'true' : undefined}
            tabIndex={-1}
            onClick={pick(onPick)}
          >
            {content}
          </button>
          {aside && (
            <button
              type="button"
              role="menuitem"
              class="menu-item is-aside"
              aria-label={aside.label}
              title={aside.label}
              tabIndex={-1}
              onClick={pick(aside.onPick)}
            >
              <Icon name={aside.icon} />
            </button>
          )}
        </div>,
      ])}
    </div>
  );
}

/** The place that a key goes to; undefined if the key does not move. */
function stepOf(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return (at + 1) % count;
    case 'ArrowUp':
      return (at <= 0 ? count : at) - 1;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
