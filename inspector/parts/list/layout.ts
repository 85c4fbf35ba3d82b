// Where the rows of a long list are, without measuring any: all have the same height, except a few that are taller.

export interface Layout {
  readonly count: number;
  readonly height: number;
  readonly topOf: (index: number) => number;
  readonly heightOf: (index: number) => number;
  readonly isTall: (index: number) => boolean;
  /** The row at a height, between 0 and `count - 1`. */
  readonly rowAt: (y: number) => number;
}

/** `tall` has the heights of the rows that are not `rowHeight` high. It should be small: it is walked for each question. */
export function layout(count: number, rowHeight: number, tall: ReadonlyMap<number, number>): Layout {
  const entries = [...tall].filter(([index]) => index < count).sort(([a], [b]) => a - b);
  const height = entries.reduce((sum, [, each]) => sum + each - rowHeight, count * rowHeight);
  function topOf(index: number): number {
    let top = index * rowHeight;
    for (const [each, its] of entries) {
      if (each >= index) break;
      top += its - rowHeight;
    }
    return top;
  }
  function rowAt(y: number): number {
    let extra = 0;
    for (const [index, its] of entries) {
      const top = index * rowHeight + extra;
      if (y < top) break;
      if (y < top + its) return index;
      extra += its - rowHeight;
    }
    return Math.max(0, Math.min(count - 1, Math.floor((y - extra) / rowHeight)));
  }
  return {
    count,
    height,
    topOf,
    heightOf: (index) => tall.get(index) ?? rowHeight,
    isTall: (index) => tall.has(index),
    rowAt,
  };
}

/** The rows that can be seen, and `more` pixels above and below them; `end` is not included. */
export function windowOf(
  rows: Layout,
  { top, height, more }: { readonly top: number; readonly height: number; readonly more: number },
): { readonly start: number; readonly end: number } {
  if (rows.count === 0) return { start: 0, end: 0 };
  return { start: rows.rowAt(Math.max(0, top - more)), end: rows.rowAt(top + height + more) + 1 };
}
