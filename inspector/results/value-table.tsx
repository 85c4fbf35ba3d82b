import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { isObject } from '../../src/jsonrpc/message.js';
import { cleanLine } from '../../src/tooling/clean.js';
import { Button } from '../parts/controls/button.js';

const ROWS_AT_ONCE = 100;
const MAX_COLUMNS = 12;

export interface Table {
  readonly caption: string | undefined;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** The rows of an array of objects that are alike, or of the only array in an object; otherwise undefined. */
export function tableOf(value: unknown): Table | undefined {
  if (Array.isArray(value)) return tableOfRows(value, undefined);
  if (typeof value !== 'object' || value === null) return undefined;
  const [only, second] = Object.entries(value);
  if (only === undefined || second !== undefined || !Array.isArray(only[1])) return undefined;
  return tableOfRows(only[1], only[0]);
}

function tableOfRows(rows: readonly unknown[], caption: string | undefined): Table | undefined {
  if (rows.length < 2 || !rows.every(isObject)) return undefined;
  const columns = [...new Set(rows.slice(0, 50).flatMap((row) => Object.keys(row)))];
  return columns.length === 0 || columns.length > MAX_COLUMNS ? undefined : { caption, columns, rows };
}

/** Rows as a table. With `previous`, cells that are different from the same row of the run before are marked. */
export function ValueTable({
  table,
  previous,
}: {
  readonly table: Table;
  readonly previous?: { readonly table: Table | undefined; readonly name: string } | undefined;
}): VNode {
  const limit = useSignal(ROWS_AT_ONCE);
  return (
    <div class="results-table" tabIndex={0} role="group" aria-label={table.caption ?? 'Rows'}>
      <table>
        {table.caption !== undefined && <caption class="mono muted">{cleanLine(table.caption, 80)}</caption>}
        <thead>
          <tr>
            {table.columns.map((column) => (
              <th key={column} scope="col">
                {cleanLine(column, 60)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, limit.value).map((row, at) => (
            <tr key={at}>
              {table.columns.map((column) => (
                <td key={column} class={typeof row[column] === 'number' ? 'is-number' : ''}>
                  {Object.hasOwn(row, column) ? cell(row[column]) : ''}
                  <Was
                    value={row[column]}
                    column={column}
                    row={previous?.table?.rows[at]}
                    name={previous?.name}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {table.rows.length > limit.value && (
        <Button
          look="quiet"
          onClick={() => {
            limit.value += ROWS_AT_ONCE;
          }}
        >
          {table.rows.length - limit.value} more rows
        </Button>
      )}
    </div>
  );
}

function Was({
  value,
  column,
  row,
  name,
}: {
  readonly value: unknown;
  readonly column: string;
  readonly row: Readonly<Record<string, unknown>> | undefined;
  readonly name: string | undefined;
}): VNode | null {
  if (row === undefined || name === undefined) return null;
  const before = Object.hasOwn(row, column) ? row[column] : undefined;
  if (cell(before) === cell(value)) return null;
  return (
    <span class="json-mark" title={name}>
      was {cell(before) || 'nothing'}
    </span>
  );
}

function cell(value: unknown): string {
  return cleanLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), 200);
}
