// The lines in which two contents differ.

export interface DifferenceLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** The most pairs of lines that are compared: beyond it, the changed part is shown as replaced. */
const MAX_PAIRS = 1_000_000;

/** Lines of both contents, in order. */
export function lineDifference(before: string, after: string): readonly DifferenceLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end += 1;
  return [
    ...now.slice(0, start).map((text) => ({ kind: 'same', text }) as const),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...now.slice(now.length - end).map((text) => ({ kind: 'same', text }) as const),
  ];
}

/** The longest common subsequence, by a table that is walked from its end. */
function middle(old: readonly string[], now: readonly string[]): readonly DifferenceLine[] {
  const width = now.length + 1;
  if (old.length === 0 || now.length === 0 || old.length * now.length > MAX_PAIRS)
    return [
      ...old.map((text) => ({ kind: 'removed', text }) as const),
      ...now.map((text) => ({ kind: 'added', text }) as const),
    ];
  const common = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = now.length - 1; column >= 0; column--)
      common[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: DifferenceLine[] = [];
  let row = 0;
  let column = 0;
  while (row < old.length || column < now.length) {
    const isSame = row < old.length && column < now.length && old[row] === now[column];
    const isRemoved =
      !isSame && row < old.length && (column >= now.length || at(row + 1, column) >= at(row, column + 1));
    if (isSame || !isRemoved) {
      lines.push({ kind: isSame ? 'same' : 'added', text: now[column] ?? '' });
      column += 1;
      if (isSame) row += 1;
    } else {
      lines.push({ kind: 'removed', text: old[row] ?? '' });
      row += 1;
    }
  }
  return lines;
}

/** The changed lines with `around` equal ones around them; a number stands for the lines that are left out. */
export function folded(lines: readonly DifferenceLine[], around = 3): readonly (DifferenceLine | number)[] {
  const kept = new Uint8Array(lines.length);
  lines.forEach(({ kind }, at) => {
    if (kind !== 'same') kept.fill(1, Math.max(0, at - around), at + around + 1);
  });
  const shown: (DifferenceLine | number)[] = [];
  lines.forEach((line, at) => {
    const last = shown.at(-1);
    if (kept[at] === 1) shown.push(line);
    else if (typeof last === 'number') shown[shown.length - 1] = last + 1;
    else shown.push(1);
  });
  return shown;
}
