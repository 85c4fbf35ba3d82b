// Structured data as a table.

import { isObject } from '../../jsonrpc/message.js';
import { cleanLine } from '../../tooling/clean.js';
import { cutToWidth, widthOf } from '../terminal/text-width.js';

const MAX_COLUMNS = 30;
/** Only a cell that nobody would read as part of a table is cut before it is known whether the table fits. */
const MAX_CELL = 2000;
const MIN_CELL = 8;

type Row = Readonly<Record<string, unknown>>;

/** A table that leaves nothing out and fits between the edges of a terminal. Undefined if there is none of this data. */
export function wholeTableOf(data: unknown, columns: number): string | undefined {
  const rows = rowsOf(data);
  const isAll = Array.isArray(data) || (isObject(data) && Object.keys(data).length === 1);
  if (rows === undefined || !isAll) return undefined;
  const values = rows.flatMap((row) => Object.values(row));
  if (values.some((value) => cell(value) !== String(value ?? ''))) return undefined;
  if (new Set(rows.flatMap((row) => Object.keys(row))).size > MAX_COLUMNS) return undefined;
  const table = tableOf(data);
  return table?.split('\n').every((line) => widthOf(line) <= columns) ? table : undefined;
}

/**
 * A table of flat objects: of an array, or of the only array in an object. Undefined if the data has another shape. The widest columns are cut
 * for a table that is wider than `columns`.
 */
export function tableOf(data: unknown, columns: number = Number.POSITIVE_INFINITY): string | undefined {
  const rows = rowsOf(data);
  if (rows === undefined) return undefined;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS);
  const cells = [
    names,
    ...rows.map((row) => names.map((name) => (Object.hasOwn(row, name) ? row[name] : ''))),
  ];
  const lines = cells.map((row) => row.map(cell));
  const widths = narrowed(
    names.map((_, at) => lines.reduce((most, line) => Math.max(most, widthOf(line[at] ?? '')), 0)),
    columns,
  );
  const isNumeric = names.map((name) =>
    rows.every((row) => !Object.hasOwn(row, name) || typeof row[name] === 'number'),
  );
  return lines
    .map((line) =>
      line
        .map((text, at) => {
          const width = widths[at] ?? 0;
          const shown = cutToWidth(text, width);
          const space = ' '.repeat(width - widthOf(shown));
          return isNumeric[at] ? space + shown : shown + space;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Makes the widest columns narrower until the table fits, but none so narrow that nothing can be read in it. */
function narrowed(widths: readonly number[], columns: number): readonly number[] {
  const fitting = [...widths];
  for (;;) {
    const excess = fitting.reduce((sum, width) => sum + width + 2, -2) - columns;
    const widest = Math.max(...fitting);
    if (excess <= 0 || widest <= MIN_CELL) return fitting;
    const at = fitting.indexOf(widest);
    const next = Math.max(MIN_CELL, ...fitting.filter((_, other) => other !== at));
    fitting[at] = Math.max(widest - excess, Math.min(next, widest - 1));
  }
}

function rowsOf(data: unknown): readonly Row[] | undefined {
  if (Array.isArray(data)) return data.length > 0 && data.every(isFlat) ? data : undefined;
  if (!isObject(data)) return undefined;
  const [only, ...others] = Object.values(data).filter((value) => Array.isArray(value));
  return others.length === 0 && Array.isArray(only) && only.length > 0 && only.every(isFlat)
    ? only
    : undefined;
}

function isFlat(value: unknown): value is Row {
  return (
    isObject(value) && Object.values(value).every((field) => typeof field !== 'object' || field === null)
  );
}

function cell(value: unknown): string {
  return cleanLine(value === null || value === undefined ? '' : String(value), MAX_CELL);
}
