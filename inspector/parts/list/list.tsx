import { type Signal, signal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { cleanLine } from '../../../src/tooling/clean.js';
import { remembered } from '../../state/settings.js';
import { closest } from '../close-names.js';
import { Button } from '../controls/button.js';
import { useKeys } from '../controls/keys.js';
import { Icon, type IconName } from '../icon.js';
import { isFocusNowhere } from '../popup/layers.js';
import { Menu } from '../popup/menu.js';
import { type ListItem, LONG, matches, plain, rowsOf, type Section, sectionsOf } from './arrange.js';
import { ListRows, type RowsHandle } from './list-rows.js';

export type { ListItem } from './arrange.js';

/** A mark that items of a list have, and that the list can be filtered by. */
export interface Mark {
  readonly id: string;
  /** As in `destructive`. */
  readonly label: string;
  readonly icon: IconName;
}

/** A list with fewer items is seen as a whole. */
const FEW = 10;
const NONE: readonly never[] = [];

/** The groups that were opened and closed in this session, by the name of their list and their own. */
const toggled: Signal<Readonly<Record<string, boolean>>> = remembered('groups', {}, 'sessionStorage');
const MAX_TOGGLED = 500;

/** The filter of a list. It stays while the list is away: on a phone, an item takes its place. */
interface Filter {
  readonly words: Signal<string>;
  readonly marks: Signal<readonly string[]>;
}

/** By the name of the list. */
const filters = new Map<string, Filter>();

function filterOf(label: string): Filter {
  const known = filters.get(label) ?? { words: signal(''), marks: signal<readonly string[]>(NONE) };
  filters.set(label, known);
  return known;
}

/** A list of links that can be filtered and walked through with the keyboard. A long one has groups, and what was used last on top. */
export function List({
  items,
  label,
  selected,
  noun,
  marks = NONE,
  recent = NONE,
  isStale = false,
  children,
}: {
  readonly items: readonly ListItem[];
  /** The name of the list, as in `Tools`. */
  readonly label: string;
  readonly selected?: string | undefined;
  /** The kind of an item, as in `tool`. */
  readonly noun: string;
  /** The marks that items may have. */
  readonly marks?: readonly Mark[];
  /** The ids of the items that were used last, the latest first. */
  readonly recent?: readonly string[];
  /** The list is being fetched again: this is the last known one. */
  readonly isStale?: boolean;
  /** The end of the list, below its items. */
  readonly children?: ComponentChildren;
}): VNode {
  const { words: filter, marks: chosen } = filterOf(label);
  const input = useRef<HTMLInputElement>(null);
  const rowsHandle = useRef<RowsHandle>(null);
  const revealed = useRef<string>(undefined);
  const id = useId();
  const isFiltered = filter.value.trim() !== '' || chosen.value.length > 0;

  const keyOf = ({ key }: Section) => `${label} ${key}`;
  const isOpen = (section: Section) => {
    const wanted = toggled.value?.[keyOf(section)];
    return typeof wanted === 'boolean' ? wanted : section.isOpenAtFirst;
  };
  const matching = useMemo(() => {
    const marked = items.filter((item) => chosen.value.every((mark) => item.marks?.includes(mark)));
    return matches(marked, filter.value);
  }, [items, filter.value, chosen.value]);
  const sections = useMemo(
    // Items that match words are in the order of how well they do.
    () => (filter.value.trim() === '' ? sectionsOf(matching, isFiltered ? NONE : recent) : [plain(matching)]),
    [matching, recent],
  );
  const rows = useMemo(() => rowsOf(sections, isOpen), [sections, toggled.value]);

  const focusFilter = () => {
    input.current?.focus({ preventScroll: true });
    // The words typed before are replaced by those typed next.
    input.current?.select();
  };
  useKeys({
    '/': focusFilter,
    j: () => rowsHandle.current?.move(1),
    k: () => rowsHandle.current?.move(-1),
  });
  useEffect(() => {
    // An item that is selected elsewhere is shown here, once: its group can be closed again.
    if (selected === undefined || revealed.current === selected || filter.value) return;
    const around = sections.filter((section) => section.items.some((item) => item.id === selected));
    if (around.length === 0) return;
    revealed.current = selected;
    const [group] = around.slice(-1);
    if (group && !around.some(isOpen)) toggle(keyOf(group), true);
  }, [selected, sections]);
  useEffect(() => {
    // On a touch screen, the focus would open the keyboard.
    if (!isFocusNowhere() || matchMedia('(pointer: coarse)').matches) return;
    if (items.length > LONG) focusFilter();
    else rowsHandle.current?.focusSelected();
  }, []);
  const showAll = () => {
    filter.value = '';
    chosen.value = NONE;
    input.current?.focus();
  };

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
            if (event.key === 'ArrowDown') rowsHandle.current?.focusFirst();
            else if (event.key === 'Enter') rowsHandle.current?.openFirst();
            else if (event.key === 'Escape' && isFiltered) showAll();
            // The key that leads here leads nowhere else from here.
            else if (event.key !== '/' || filter.value !== '') return;
            event.preventDefault();
          }}
        />
        <span class="label muted" aria-live="polite">
          {isFiltered ? `${matching.length} of ${items.length}` : items.length}
          <span class="visually-hidden"> {label}</span>
        </span>
        {!isFiltered && <kbd aria-hidden="true">/</kbd>}
        {items.length > FEW && <MarkMenu items={items} marks={marks} chosen={chosen} />}
      </div>
      {chosen.value.length > 0 && (
        <div class="list-marks" role="group" aria-label="Marks to filter by">
          {marks
            .filter((mark) => chosen.value.includes(mark.id))
            .map((mark) => (
              <Button
                key={mark.id}
                look="quiet"
                icon="close"
                isPressed
                label="Remove from the filter"
                onClick={() => {
                  switchMark(chosen, mark.id);
                  input.current?.focus();
                }}
              >
                {mark.label}
              </Button>
            ))}
        </div>
      )}
      <ListRows
        id={id}
        label={label}
        rows={rows}
        selected={selected}
        filtered={`${chosen.value.join(' ')} ${filter.value}`}
        isStale={isStale}
        handle={rowsHandle}
        onToggle={({ group }, isNowOpen) => toggle(keyOf(group), isNowOpen)}
      >
        {matching.length === 0 && isFiltered && (
          <div class="list-none muted">
            <p>
              {noneOf(
                noun,
                filter.value,
                marks.filter((mark) => chosen.value.includes(mark.id)),
              )}{' '}
              <Close typed={filter.value} items={items} />
            </p>
            <Button onClick={showAll}>
              Show all {items.length} {noun}s
            </Button>
          </div>
        )}
        {children}
      </ListRows>
    </div>
  );
}

function toggle(key: string, isOpen: boolean): void {
  const { [key]: _, ...others } = toggled.value ?? {};
  toggled.value = Object.fromEntries([...Object.entries(others), [key, isOpen]].slice(-MAX_TOGGLED));
}

function switchMark(chosen: Signal<readonly string[]>, mark: string): void {
  const others = chosen.value.filter((each) => each !== mark);
  chosen.value = others.length < chosen.value.length ? others : [...others, mark];
}

/** The marks that some items have, with the number of these, to filter by. */
function MarkMenu({
  items,
  marks,
  chosen,
}: {
  readonly items: readonly ListItem[];
  readonly marks: readonly Mark[];
  readonly chosen: Signal<readonly string[]>;
}): VNode | null {
  const counts = useMemo(() => {
    const found = new Map<string, number>();
    for (const item of items)
      for (const mark of item.marks ?? []) found.set(mark, (found.get(mark) ?? 0) + 1);
    return found;
  }, [items]);
  const offered = marks.filter((mark) => counts.has(mark.id) || chosen.value.includes(mark.id));
  if (offered.length === 0) return null;
  return (
    <Menu
      label="Filter by mark"
      class="icon list-mark-menu"
      items={offered.map((mark) => ({
        id: mark.id,
        isChecked: chosen.value.includes(mark.id),
        onPick: () => switchMark(chosen, mark.id),
        content: (
          <>
            <Icon name={chosen.value.includes(mark.id) ? 'check' : mark.icon} />
            {mark.label}
            <span class="muted list-mark-count">{counts.get(mark.id) ?? 0}</span>
          </>
        ),
      }))}
    >
      <Icon name="filter" label="Filter by mark" />
    </Menu>
  );
}

/** As in `No tool that is marked “destructive” has “pay” in it.` */
function noneOf(noun: string, typed: string, chosen: readonly Mark[]): string {
  const marked = chosen.map((mark) => `“${mark.label}”`).join(' and ');
  if (typed.trim() === '') return `No ${noun} is marked ${marked}.`;
  return `No ${noun} ${marked && `that is marked ${marked} `}has “${typed}” in it.`;
}

function Close({
  typed,
  items,
}: {
  readonly typed: string;
  readonly items: readonly ListItem[];
}): VNode | null {
  const close = typed ? closest(typed, items) : undefined;
  if (close === undefined) return null;
  return (
    <>
      <a href={close.href}>{cleanLine(close.name, 100)}</a> is close.
    </>
  );
}
