// Structured data as a table.

import { isObject } from '../../jsonrpc/message.js';
import { cleanLine } from '../../tooling/clean.js';

const MAX_COLUMNS = 30;
const MAX_CELL = 60;

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
  return table?.split('\n').every((line) => line.length <= columns) ? table : undefined;
}

/** A table of flat objects: of an array, or of the only array in an object. Undefined if the data has another shape. */
export function tableOf(data: unknown): string | undefined {
  const rows = rowsOf(data);
  if (rows === undefined) return undefined;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS);
  const cells = [
    names,
    ...rows.map((row) => names.map((name) => (Object.hasOwn(row, name) ? row[name] : ''))),
  ];
  const lines = cells.map((row) => row.map(cell));
  const widths = names.map((_, at) => lines.reduce((most, line) => Math.max(most, line[at]?.length ?? 0), 0));
  const isNumeric = names.map((name) =>
    rows.every((row) => !Object.hasOwn(row, name) || typeof row[name] === 'number'),
  );
  return lines
    .map((line) =>
      line
        .map((text, at) => (isNumeric[at] ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
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
