import { Component, type ComponentChildren, type VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Layout, windowOf } from '../../parts/list/layout.js';

/** Rows above and below the ones that can be seen, in pixels: a fast wheel should not outrun them. */
const MORE = 140;

export interface VirtualListProps<Item> {
  readonly id: string;
  readonly label: string;
  readonly rows: Layout;
  readonly keyOf: (index: number) => number;
  /** The place of a key; -1 if it is not in the list. */
  readonly indexOf: (key: number) => number;
  readonly itemOf: (index: number) => Item;
  /** Draws an item; asked again only when the item, its height or its selection changed. */
  readonly draw: (item: Item, isTall: boolean) => ComponentChildren;
  readonly selected: number | undefined;
  readonly onSelect: (key: number) => void;
  /** Stays at the end while rows are added there, until the user scrolls away from it. */
  readonly followsEnd?: boolean;
}

/** A listbox of any length. Only the rows that can be seen exist; none is measured. */
export function VirtualList<Item>({
  id,
  label,
  rows,
  keyOf,
  indexOf,
  itemOf,
  draw,
  selected,
  onSelect,
  followsEnd = false,
}: VirtualListProps<Item>): VNode {
  const box = useRef<HTMLDivElement>(null);
  // Where the list is, as the browser last said: asking it again while rows change would cost a layout.
  const at = useRef({ top: 0, height: 600, anchor: -1, offset: 0, isAtEnd: true });
  const pool = useRef(0);
  const [, show] = useState('');
  const { start, end } = windowOf(rows, { ...at.current, more: MORE });

  const remember = (top: number): void => {
    const anchor = rows.rowAt(top);
    at.current = {
      ...at.current,
      top,
      anchor: rows.count === 0 ? -1 : keyOf(anchor),
      offset: top - rows.topOf(anchor),
      isAtEnd: top + at.current.height >= rows.height - 4,
    };
    const next = windowOf(rows, { ...at.current, more: MORE });
    show(`${next.start} ${next.end}`);
  };
  const scrollTo = (top: number): void => {
    const most = Math.max(0, rows.height - at.current.height);
    const next = Math.min(most, Math.max(0, top));
    if (next === at.current.top || !box.current) return;
    box.current.scrollTop = next;
    remember(next);
  };

  const reveal = useRef(() => {});
  reveal.current = () => {
    const place = selected === undefined ? -1 : indexOf(selected);
    if (place < 0) return;
    const { top, height } = at.current;
    const from = rows.topOf(place);
    const to = from + rows.heightOf(place);
    if (from < top) scrollTo(from);
    else if (to > top + height) scrollTo(Math.min(from, to - height));
  };

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const before = at.current.height;
      at.current.height = entry.contentRect.height;
      show(`${at.current.height}`);
      // The message of a selected row opens below the list: the row stays in sight.
      if (at.current.height < before) reveal.current();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // Rows that come above the ones on the screen must not move them.
  useLayoutEffect(() => {
    const { top, anchor, offset, isAtEnd } = at.current;
    if (followsEnd && isAtEnd) return scrollTo(rows.height);
    if (top === 0 || followsEnd) return;
    const place = indexOf(anchor);
    if (place >= 0) scrollTo(rows.topOf(place) + offset);
  }, [rows]);

  useLayoutEffect(() => reveal.current(), [selected]);

  const move = (by: number): void => {
    const from = selected === undefined ? -1 : indexOf(selected);
    const to = Math.min(rows.count - 1, Math.max(0, from + by));
    if (rows.count > 0) onSelect(keyOf(to));
  };
  const chosen = selected === undefined ? -1 : indexOf(selected);
  const places = Array.from({ length: end - start }, (_, index) => start + index);
  // Rows are used again for what comes into view: changing their words costs less than making elements.
  // There are always a few more than needed, because another number would give every row another element.
  pool.current = Math.max(pool.current, end - start + 2);
  return (
    <div
      ref={box}
      id={id}
      class="virtual-list"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={chosen >= start && chosen < end ? `${id}-${selected}` : undefined}
      onScroll={(event) => remember(event.currentTarget.scrollTop)}
      onKeyDown={(event) => {
        const by = STEPS[event.key];
        if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        move(by);
      }}
    >
      <div class="virtual-space" style={{ height: `${rows.height}px` }}>
        {places.map((index) => (
          <Row
            key={index % pool.current}
            id={`${id}-${keyOf(index)}`}
            item={itemOf(index)}
            draw={draw}
            top={rows.topOf(index)}
            height={rows.heightOf(index)}
            isTall={rows.isTall(index)}
            isSelected={index === chosen}
            place={index + 1}
            count={rows.count}
            onSelect={() => onSelect(keyOf(index))}
          />
        ))}
      </div>
    </div>
  );
}

interface RowProps<Item> {
  readonly id: string;
  readonly item: Item;
  readonly draw: (item: Item, isTall: boolean) => ComponentChildren;
  readonly top: number;
  readonly height: number;
  readonly isTall: boolean;
  readonly isSelected: boolean;
  readonly place: number;
  readonly count: number;
  readonly onSelect: () => void;
}

class Row<Item> extends Component<RowProps<Item>> {
  override shouldComponentUpdate(next: RowProps<Item>): boolean {
    const { id, item, top, height, isSelected, place, count } = this.props;
    return (
      next.item !== item ||
      next.id !== id ||
      next.top !== top ||
      next.height !== height ||
      next.isSelected !== isSelected ||
      next.place !== place ||
      next.count !== count
    );
  }

  override render({
    id,
    item,
    draw,
    top,
    height,
    isTall,
    isSelected,
    place,
    count,
    onSelect,
  }: RowProps<Item>): VNode {
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox has the keys
      // biome-ignore lint/a11y/useFocusableInteractive: the listbox has the focus
      <div
        id={id}
        class="virtual-row"
        role="option"
        aria-selected={isSelected}
        aria-setsize={count}
        aria-posinset={place}
        style={{ transform: `translateY(${top}px)`, height: `${height}px` }}
        onClick={onSelect}
      >
        {draw(item, isTall)}
      </div>
    );
  }
}

const PAGE = 10;
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  j: 1,
  k: -1,
  PageDown: PAGE,
  PageUp: -PAGE,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};
