import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { Button } from '../parts/controls/button.js';
import { JsonTree } from '../parts/values/json-tree.js';
import { tableOf, ValueTable } from './value-table.js';

/** Structured data as a tree; rows that are alike can be looked at as a table. */
export function StructuredView({
  value,
  previous,
}: {
  readonly value: unknown;
  readonly previous?: { readonly value: unknown; readonly name: string } | undefined;
}): VNode {
  const table = useMemo(() => tableOf(value), [value]);
  const before = useMemo(
    () => previous && { name: previous.name, table: tableOf(previous.value) },
    [previous?.value, previous?.name],
  );
  const isTable = useSignal(true);
  return (
    <div class="results-structured">
      {table !== undefined && (
        <div class="results-as">
          <Button look="quiet" isPressed={isTable.value} onClick={() => toggle(true)}>
            Table
          </Button>
          <Button look="quiet" isPressed={!isTable.value} onClick={() => toggle(false)}>
            Tree
          </Button>
        </div>
      )}
      {table !== undefined && isTable.value ? (
        <ValueTable table={table} previous={before} />
      ) : (
        <JsonTree value={value} previous={previous} />
      )}
    </div>
  );

  function toggle(next: boolean): void {
    isTable.value = next;
  }
}
