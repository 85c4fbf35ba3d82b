import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { Button } from '../parts/controls/button.js';
import { JsonTree } from '../parts/values/json-tree.js';
import { type Table, tableOf, ValueTable } from './value-table.js';

/** Structured data as a tree, or as a table if there is one. */
export function StructuredView({
  value,
  table,
  previous,
}: {
  readonly value: unknown;
  /** The rows of the value, if they are alike and wanted as a table. */
  readonly table: Table | undefined;
  readonly previous?: { readonly value: unknown; readonly name: string } | undefined;
}): VNode {
  const before = useMemo(
    () => previous && { name: previous.name, table: tableOf(previous.value) },
    [previous?.value, previous?.name],
  );
  return table === undefined ? (
    <JsonTree value={value} previous={previous} />
  ) : (
    <ValueTable table={table} previous={before} />
  );
}

/** Whether rows are shown as a table or as a tree: stands beside the tabs, so that the table has the whole width. */
export function TableSwitch({ isTable }: { readonly isTable: Signal<boolean> }): VNode {
  const choose = (next: boolean) => () => {
    isTable.value = next;
  };
  return (
    <div class="results-as" role="group" aria-label="Value as">
      <Button look="quiet" isPressed={isTable.value} onClick={choose(true)}>
        Table
      </Button>
      <Button look="quiet" isPressed={!isTable.value} onClick={choose(false)}>
        Tree
      </Button>
    </div>
  );
}
