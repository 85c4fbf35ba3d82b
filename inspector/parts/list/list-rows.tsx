import { useSignal } from '@preact/signals';
import { Component, type ComponentChildren, type RefObject, type VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { cleanLine } from '../../../src/tooling/clean.js';
import { hasLetterKeys } from '../../state/settings.js';
import { useTypedWord } from '../controls/typed-word.js';
import { Icon } from '../icon.js';
import { isFocusNowhere } from '../popup/layers.js';
import type { GroupRow, ListRow } from './arrange.js';
import { enter } from './entering.js';
import { layout, windowOf } from './layout.js';

/** As high as `--row`. */
const ROW_HEIGHT = 44;
const HEADING_HEIGHT = matchMedia('(pointer: coarse)').matches ? 44 : 32;
/** Above this number, only the rows that can be seen exist, and those `MORE` pixels around them. */
const MANY = 60;
const MORE = 220;
const PAGE = 10;

/** The rows of a list, for the filter above them. */
export interface RowsHandle {
  /** Moves the focus by a number of rows, from the one that has it or from the selected one. */
  readonly move: (by: number) => void;
  readonly focusFirst: () => void;
  /** Opens the first item as Enter does. */
  readonly openFirst: () => void;
  /** Focuses the selected item, if it is shown. */
  readonly focusSelected: () => void;
}

/** The rows of a list with one tab stop: a tree if some are in groups, else links. */
export function ListRows({
  id,
  label,
  rows,
  selected,
  filtered,
  isStale,
  handle,
  onToggle,
  children,
}: {
  readonly id: string;
  readonly label: string;
  readonly rows: readonly ListRow[];
  readonly selected: string | undefined;
  /** The filter of the rows: the list begins at its top when it changes. */
  readonly filtered: string;
  readonly isStale: boolean;
  readonly handle: RefObject<RowsHandle | null>;
  readonly onToggle: (row: GroupRow, isOpen: boolean) => void;
  /** The end of the list, below its rows. */
  readonly children?: ComponentChildren;
}): VNode {
  const box = useRef<HTMLElement>(null);
  const list = useRef<HTMLUListElement>(null);
  // Where the list is, as the browser last said: asking it again while rows change would cost a layout.
  const seen = useRef({ top: 0, height: innerHeight });
  const [, redraw] = useState('');
  const focused = useSignal('');
  const wantsFocus = useRef(false);
  const findTyped = useTypedWord();

  const heights = useMemo(() => {
    const headings = rows.flatMap(({ group }, at) => (group ? [[at, HEADING_HEIGHT] as const] : []));
    return layout(rows.length, ROW_HEIGHT, new Map(headings));
  }, [rows]);
  const isTree = rows.some(({ group }) => group !== undefined);
  const known = rows.findIndex(({ key }) => key === focused.value);
  const isSelected = (row: ListRow | undefined) => row?.group === undefined && row?.item.id === selected;
  // An item can be there twice, as a recent one and in its group: the row that was clicked is the one to stay at.
  const chosen = isSelected(rows[known]) ? known : rows.findIndex(isSelected);
  const active = known >= 0 ? known : Math.max(0, chosen);
  const shown = windowAt(seen.current);

  function windowAt({ top, height }: { readonly top: number; readonly height: number }): {
    readonly start: number;
    readonly end: number;
  } {
    if (rows.length <= MANY) return { start: 0, end: rows.length };
    // A list that became shorter is not scrolled as far as it was.
    const most = Math.max(0, heights.height - height);
    return windowOf(heights, { top: Math.min(top, most), height, more: MORE });
  }
  const look = (at: Partial<{ top: number; height: number }>): void => {
    seen.current = { ...seen.current, ...at };
    const { start, end } = windowAt(seen.current);
    redraw(`${start} ${end}`);
  };
  const latestLook = useRef(look);
  latestLook.current = look;
  const scrollTo = (top: number): void => {
    if (box.current) box.current.scrollTop = top;
    look({ top });
  };
  /** The event about a list that was scrolled comes later than keys and clicks. */
  const lookAgain = (): void => {
    seen.current.top = box.current?.scrollTop ?? 0;
  };
  const reveal = (at: number): void => {
    const { top, height } = seen.current;
    const from = heights.topOf(at);
    const to = from + heights.heightOf(at);
    if (from < top) scrollTo(from);
    else if (to > top + height) scrollTo(to - height);
  };
  const elementAt = (at: number) => document.getElementById(`${id}-${at}`);
  const focus = (at: number): void => {
    const row = rows[at];
    if (row === undefined) return;
    lookAgain();
    reveal(at);
    focused.value = row.key;
    const element = elementAt(at);
    if (element) element.focus({ preventScroll: true });
    else wantsFocus.current = true;
  };
  const open = (at: number): void => {
    const row = rows[at];
    if (row === undefined || row.group) return;
    enter(row.item.id);
    location.hash = row.item.href;
  };
  const isInside = () => list.current?.contains(document.activeElement) === true;
  handle.current = {
    move: (by) => focus(clamped((isInside() ? active : chosen) + by, rows.length)),
    focusFirst: () => focus(0),
    openFirst: () => open(rows.findIndex(({ group }) => group === undefined)),
    focusSelected: () => focus(chosen),
  };

  // Rows may go while one of them has the focus: a server lists other tools, or a group is closed.
  const hadFocus = isInside();
  useLayoutEffect(() => {
    if (!wantsFocus.current && !(hadFocus && isFocusNowhere())) return;
    wantsFocus.current = false;
    elementAt(active)?.focus({ preventScroll: true });
  });
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      latestLook.current({ height: entry?.contentRect.height ?? 0 }),
    );
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (seen.current.top > 0) scrollTo(0);
  }, [filtered]);
  useLayoutEffect(() => {
    if (chosen >= 0) reveal(chosen);
  }, [selected, chosen < 0]);

  const toggle = (row: GroupRow, isOpen: boolean): void => {
    focused.value = row.key;
    onToggle(row, isOpen);
  };
  const find = (letter: string): number => {
    const begins = (at: number, word: string): boolean => {
      const row = rows[at];
      if (row === undefined) return false;
      if (row.group) return row.group.label?.toLowerCase().startsWith(word) === true;
      const name = row.item.name.slice(0, row.prefix + 100).toLowerCase();
      return name.startsWith(word) || name.startsWith(word, row.prefix);
    };
    return findTyped(letter, active, { count: rows.length, begins });
  };
  /** Left and right close and open a group, or go to its heading and its first item. */
  const sideways = (row: ListRow, isRight: boolean): void => {
    if (!row.group) focus(isRight ? -1 : (row.parent ?? -1));
    else if (row.isOpen !== isRight) toggle(row, isRight);
    else if (isRight) focus(active + 1);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const row = rows[active];
    const step = STEPS[event.key];
    if (row === undefined) return;
    if (step !== undefined) focus(clamped(active + step, rows.length));
    else if (isTree && (event.key === 'ArrowLeft' || event.key === 'ArrowRight'))
      sideways(row, event.key === 'ArrowRight');
    else if (event.key === 'Enter' || event.key === ' ') {
      if (row.group) toggle(row, !row.isOpen);
      else if (event.key === 'Enter') open(active);
      else location.hash = row.item.href;
    } else if (event.key.length === 1 && !hasLetterKeys.value) focus(find(event.key));
    else return;
    event.preventDefault();
  };

  const places = new Set([active, chosen].filter((at) => at >= 0 && at < rows.length));
  for (let at = shown.start; at < shown.end; at++) places.add(at);
  return (
    <nav
      ref={box}
      class={isStale ? 'list-rows is-stale' : 'list-rows'}
      aria-label={label}
      onScroll={(event) => look({ top: event.currentTarget.scrollTop })}
    >
      <ul
        ref={list}
        id={id}
        role={isTree ? 'tree' : undefined}
        aria-label={isTree ? label : undefined}
        style={{ height: `${heights.height}px` }}
        onKeyDown={onKeyDown}
        onFocusIn={(event) => {
          const at = Number((event.target as HTMLElement).dataset['at']);
          const row = rows[at];
          if (row === undefined) return;
          focused.value = row.key;
          lookAgain();
          // A row that is partly visible may be one that is being clicked, and stays below the pointer.
          const { top, height } = seen.current;
          if (heights.topOf(at) >= top + height || heights.topOf(at + 1) <= top) reveal(at);
        }}
      >
        {[...places]
          .sort((one, other) => one - other)
          .map((at) => {
            const row = rows[at] as ListRow;
            return (
              <Row
                key={row.key}
                id={id}
                row={row}
                at={at}
                top={heights.topOf(at)}
                isActive={at === active}
                isSelected={isSelected(row)}
                isTree={isTree}
                onToggle={toggle}
              />
            );
          })}
      </ul>
      {children}
    </nav>
  );
}

const STEPS: Readonly<Record<string, number | undefined>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: PAGE,
  PageUp: -PAGE,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

function clamped(at: number, count: number): number {
  return Math.min(count - 1, Math.max(0, at));
}

interface RowProps {
  /** The id of the list. */
  readonly id: string;
  readonly row: ListRow;
  readonly at: number;
  readonly top: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly isTree: boolean;
  readonly onToggle: (row: GroupRow, isOpen: boolean) => void;
}

/** A row; it is drawn again only if it has changed, not when the list is scrolled. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { row, at, top, isActive, isSelected, isTree } = this.props;
    return (
      next.row !== row ||
      next.at !== at ||
      next.top !== top ||
      next.isActive !== isActive ||
      next.isSelected !== isSelected ||
      next.isTree !== isTree
    );
  }

  override render({ id, row, at, top, isActive, isSelected, isTree, onToggle }: RowProps): VNode {
    const shared = {
      id: `${id}-${at}`,
      'data-at': at,
      tabIndex: isActive ? 0 : -1,
      ...(isTree && {
        role: 'treeitem' as const,
        'aria-level': row.level,
        'aria-setsize': row.size,
        'aria-posinset': row.place,
      }),
    };
    return (
      <li role={isTree ? 'none' : undefined} style={{ top: `${top}px` }}>
        {row.group ? (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
          <div
            {...shared}
            role="treeitem"
            tabIndex={shared.tabIndex}
            class="list-group"
            aria-expanded={row.isOpen}
            style={{ height: `${HEADING_HEIGHT}px` }}
            onClick={() => onToggle(this.props.row as GroupRow, !row.isOpen)}
          >
            <Icon name={row.isOpen ? 'down' : 'right'} size={12} />
            <span class={row.group.prefix > 0 ? 'list-group-name mono' : 'list-group-name label muted'}>
              {cleanLine(row.group.label ?? '', 100)}
            </span>
            <span class="label muted">{row.group.items.length}</span>
          </div>
        ) : (
          <a
            {...shared}
            href={row.item.href}
            class={row.level === 2 && row.prefix > 0 ? 'list-row is-inner' : 'list-row'}
            aria-current={isSelected ? 'true' : undefined}
          >
            {row.item.content(row.prefix)}
          </a>
        )}
      </li>
    );
  }
}
