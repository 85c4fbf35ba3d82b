import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { closest } from '../close-names.js';
import { useKeys } from '../controls/keys.js';
import { Icon } from '../icon.js';
import { isFocusNowhere } from '../popup/layers.js';
import { enter } from './entering.js';

const SHOWN_AT_FIRST = 300;
/** A list that is longer than this is searched rather than walked through. */
const LONG = 50;

export interface ListItem {
  readonly id: string;
  /** The name, for close ones and for the order of the matches. */
  readonly name: string;
  /** The words that the filter searches besides the name. */
  readonly text: string;
  readonly href: string;
  readonly content: ComponentChildren;
  /** The heading of the group that begins with this item. */
  readonly heading?: string | undefined;
}

/** A list of links that can be filtered and walked through with j, k and the arrow keys. */
export function List({
  items,
  label,
  selected,
  noun,
  isStale = false,
  children,
}: {
  readonly items: readonly ListItem[];
  /** The name of the list, as in `Tools`. */
  readonly label: string;
  readonly selected?: string | undefined;
  /** The kind of an item, as in `tool`. */
  readonly noun: string;
  /** The list is being fetched again: this is the last known one. */
  readonly isStale?: boolean;
  /** The end of the list, below its items. */
  readonly children?: ComponentChildren;
}): VNode {
  const filter = useSignal('');
  const limit = useSignal(SHOWN_AT_FIRST);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const matching = matches(items, filter.value);
  const shown = matching.slice(0, limit.value);

  const move = (by: number) => {
    const links = [...(list.current?.querySelectorAll<HTMLAnchorElement>('a') ?? [])];
    const focused = links.indexOf(document.activeElement as HTMLAnchorElement);
    const from = focused >= 0 ? focused : links.findIndex((link) => link.ariaCurrent === 'true');
    links[Math.min(links.length - 1, Math.max(0, from + by))]?.focus();
  };
  const isInside = () => list.current?.contains(document.activeElement) === true;
  useKeys({
    '/': () => input.current?.focus(),
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => (isInside() ? move(1) : false),
    ArrowUp: () => (isInside() ? move(-1) : false),
  });
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  useEffect(() => {
    // On a touch screen, the focus would open the keyboard.
    if (!isFocusNowhere() || matchMedia('(pointer: coarse)').matches) return;
    const row = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (items.length > LONG) input.current?.focus({ preventScroll: true });
    else row?.focus({ preventScroll: true });
  }, []);
  /** Opens an item as a click does, and puts the cursor into its form. */
  const open = (link: HTMLAnchorElement | null | undefined) => {
    if (!link) return;
    enter(link.dataset['id'] ?? '');
    link.click();
  };

  const close = shown.length === 0 && filter.value ? closest(filter.value, items) : undefined;
  return (
    <div class="list">
      <div class="list-filter">
        <Icon name="search" />
        <input
          ref={input}
          type="search"
          aria-label={`Filter ${label}`}
          aria-controls={id}
          placeholder="Filter"
          spellcheck={false}
          autocomplete="off"
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') {
              event.preventDefault();
              list.current?.querySelector('a')?.focus();
            } else if (event.key === 'Enter') {
              event.preventDefault();
              open(list.current?.querySelector('a'));
            } else if (event.key === '/' && filter.value === '') {
              // The key that leads here leads nowhere else from here.
              event.preventDefault();
            } else if (event.key === 'Escape' && filter.value) {
              event.preventDefault();
              filter.value = '';
            }
          }}
        />
        <span class="label muted" aria-live="polite">
          {filter.value ? `${matching.length} of ${items.length}` : items.length}
          <span class="visually-hidden"> {label}</span>
        </span>
        {!filter.value && <kbd aria-hidden="true">/</kbd>}
      </div>
      <nav class={isStale ? 'list-rows is-stale' : 'list-rows'} aria-label={label}>
        <ul ref={list} id={id}>
          {shown.map((item) => [
            item.heading !== undefined && !filter.value && (
              <li key={`heading ${item.id}`} class="list-heading label muted">
                {item.heading}
              </li>
            ),
            <li key={item.id}>
              <a
                href={item.href}
                class="list-row"
                data-id={item.id}
                aria-current={item.id === selected ? 'true' : undefined}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  open(event.currentTarget);
                }}
              >
                {item.content}
              </a>
            </li>,
          ])}
        </ul>
        {shown.length === 0 && filter.value && (
          <p class="list-none muted">
            No {noun} has “{filter.value}” in it.{' '}
            {close && (
              <>
                <a href={close.href}>{close.name}</a> is close.
              </>
            )}
          </p>
        )}
        {matching.length > shown.length && (
          <button
            type="button"
            class="button quiet list-more"
            onClick={() => {
              limit.value += SHOWN_AT_FIRST;
            }}
          >
            Show {Math.min(SHOWN_AT_FIRST, matching.length - shown.length)} more
          </button>
        )}
        {children}
      </nav>
    </div>
  );
}

/** The items that contain every word: those that have it in their name first. */
function matches(items: readonly ListItem[], filter: string): readonly ListItem[] {
  const words = filter.toLowerCase().split(' ').filter(Boolean);
  if (words.length === 0) return items;
  const inName: ListItem[] = [];
  const elsewhere: ListItem[] = [];
  for (const item of items) {
    const name = item.name.toLowerCase();
    if (words.every((word) => name.includes(word))) inName.push(item);
    else if (words.every((word) => name.includes(word) || item.text.toLowerCase().includes(word)))
      elsewhere.push(item);
  }
  return [...inName, ...elsewhere];
}
