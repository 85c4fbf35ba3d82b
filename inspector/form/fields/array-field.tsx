import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { shapeOf } from '../../../src/schema/read/shape.js';
import { Button } from '../../parts/controls/button.js';
import { pointer } from '../check.js';
import { type ControlProps, FormContext } from '../form-context.js';
import { initialValue } from '../initial-value.js';
import { Field } from './field.js';
import { TableField } from './table-field.js';

const MAX_ITEMS = 200;
const MAX_COLUMNS = 6;
const SIMPLE: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'choice', 'const']);

/** An array: a table if its items are objects of simple fields, otherwise one field under the other. */
export function ArrayField(props: ControlProps): VNode {
  const { shape, value, onChange, path, depth, name } = props;
  const { root } = useContext(FormContext);
  const items = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const schema = shape.kind === 'array' ? shape.items : undefined;
  const item = shapeOf(schema, root);
  const columns = item.kind === 'object' ? item.fields : [];
  const isTable =
    columns.length > 0 &&
    columns.length <= MAX_COLUMNS &&
    columns.every((column) => SIMPLE.has(shapeOf(column.schema, root).kind));
  const add = () => onChange([...items, initialValue(schema, root) ?? emptyOf(item.kind)]);
  const most = shape.schema['maxItems'];
  const isFull = items.length >= (typeof most === 'number' ? most : MAX_ITEMS);
  const adding = (
    <Button look="quiet" icon="plus" class="form-add" isDisabled={isFull} onClick={add}>
      Add {isTable ? 'a row' : 'an item'}
    </Button>
  );
  if (isTable)
    return (
      <>
        {items.length > 0 && <TableField {...props} item={item} items={items.slice(0, MAX_ITEMS)} />}
        {adding}
      </>
    );
  return (
    <div class="form-items">
      {items.slice(0, MAX_ITEMS).map((each, at) => (
        <div key={at} class="form-map-row">
          <Field
            schema={schema}
            name={String(at + 1)}
            value={each === null && !item.isNullable ? undefined : each}
            onChange={(next) => onChange(items.with(at, next ?? emptyOf(item.kind)))}
            path={pointer(path, at)}
            depth={depth + 1}
            isRequired={true}
            isItem={true}
          />
          <Button
            look="quiet"
            icon="close"
            label={`Remove item ${at + 1} of ${name}`}
            onClick={() => onChange(items.toSpliced(at, 1))}
          />
        </div>
      ))}
      {adding}
    </div>
  );
}

/** The value of a new item until something is typed. */
function emptyOf(kind: string): unknown {
  return kind === 'string' ? '' : kind === 'object' || kind === 'map' ? {} : kind === 'array' ? [] : null;
}
