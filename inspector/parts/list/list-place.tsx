import './list-place.css';
import type { ComponentChildren, VNode } from 'preact';
import { cleanLine } from '../../../src/tooling/clean.js';
import { isNarrow } from '../../state/media.js';
import { listWidth } from '../../state/settings.js';
import { Splitter } from '../controls/split.js';

/** A list beside what was chosen in it. On a phone it is one or the other. */
export function ListPlace({
  title,
  list,
  children,
}: {
  /** The name of the list, as in `Resources`. */
  readonly title: string;
  readonly list: ComponentChildren;
  /** The chosen item; undefined if there is none. */
  readonly children?: ComponentChildren;
}): VNode {
  if (isNarrow.value) {
    // The bar at the top has the way back to the list.
    const isOpen = children !== undefined && children !== null && children !== false;
    return (
      <div class="list-place">
        {isOpen ? (
          <div class="list-place-main">{children}</div>
        ) : (
          <div class="list-place-main is-list">
            <h1 class="visually-hidden">{title}</h1>
            {list}
          </div>
        )}
      </div>
    );
  }
  return (
    <div class="list-place">
      <div class="list-place-list" style={{ width: `${listWidth.value}px` }}>
        {list}
      </div>
      <Splitter size={listWidth} min={200} max={480} label="Width of the list" />
      <div class="list-place-main">{children}</div>
    </div>
  );
}

/** A name whose first characters are those of its group: dimmed, but there, because the whole name is what one searches and copies. */
export function RowName({ name, prefix }: { readonly name: string; readonly prefix: number }): VNode {
  const rest = cleanLine(name.slice(prefix), 100);
  if (prefix === 0) return <>{rest}</>;
  return (
    <>
      <span class="muted">{cleanLine(name.slice(0, prefix), 100)}</span>
      {rest}
    </>
  );
}

/** The two lines of a row: a name with something beside it, and a note below. */
export function RowText({
  name,
  prefix = 0,
  aside,
  note,
  isCode = true,
}: {
  readonly name: string;
  /** The number of characters that the names of its group begin with. */
  readonly prefix?: number;
  readonly aside?: ComponentChildren;
  readonly note?: string | undefined;
  readonly isCode?: boolean;
}): VNode {
  return (
    <>
      <span class="row-line">
        <span class={isCode ? 'row-name mono' : 'row-name'}>
          <RowName name={name} prefix={prefix} />
        </span>
        {aside !== undefined && <span class="row-aside label muted">{aside}</span>}
      </span>
      {note !== undefined && note !== '' && (
        <span class="row-note label muted" title={note}>
          {note}
        </span>
      )}
    </>
  );
}
