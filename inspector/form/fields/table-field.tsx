import type { ComponentType, VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { isObject } from '../../../src/jsonrpc/message.js';
import { type Shape, shapeOf } from '../../../src/schema/read/shape.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { pointer } from '../check.js';
import { type ControlProps, FormContext, idOf } from '../form-context.js';
import { ChoiceField } from './choice-field.js';
import { NumberField } from './number-field.js';
import { TextField } from './text-field.js';

/** A list of objects as a table, one row for each. */
export function TableField({
  item,
  items,
  onChange,
  path,
  depth,
  name,
}: ControlProps & { readonly item: Shape; readonly items: readonly unknown[] }): VNode {
  const { root } = useContext(FormContext);
  const columns = (item.kind === 'object' ? item.fields : []).map(({ name: key, schema, isRequired }) => ({
    key,
    isRequired,
    shape: shapeOf(schema, root),
  }));
  return (
    <table class="form-table">
      <thead>
        <tr>
          {columns.map(({ key, shape, isRequired }) => (
            <th key={key} scope="col" title={cleanLine(String(shape.schema['description'] ?? ''), 300)}>
              {cleanLine(key, 60)}
              {isRequired && <span class="form-required">*</span>}
            </th>
          ))}
          <td />
        </tr>
      </thead>
      <tbody>
        {items.map((row, at) => (
          <tr key={at}>
            {columns.map(({ key, shape, isRequired }) => (
              <td key={key} data-label={key} class={`is-${shape.kind}`}>
                <Cell
                  shape={shape}
                  value={isObject(row) && Object.hasOwn(row, key) ? row[key] : undefined}
                  onChange={(next) => onChange(items.with(at, changed(row, key, next)))}
                  path={pointer(pointer(path, at), key)}
                  depth={depth + 1}
                  name={`${key} of ${name} ${at + 1}`}
                  isRequired={isRequired}
                />
              </td>
            ))}
            <td class="form-table-remove">
              <Button
                look="quiet"
                icon="close"
                label={`Remove row ${at + 1} of ${name}`}
                onClick={() => onChange(items.toSpliced(at, 1))}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type CellProps = Omit<ControlProps, 'id' | 'describedBy' | 'isInvalid'>;

function Cell(props: CellProps): VNode {
  const { errors, idPrefix } = useContext(FormContext);
  const { shape, value, onChange, path, name } = props;
  const error = errors.get(path);
  const id = idOf(idPrefix, path);
  if (shape.kind === 'boolean')
    return (
      <input
        id={id}
        type="checkbox"
        aria-label={name}
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    );
  if (shape.kind === 'const')
    return <span class="mono">{cleanLine(JSON.stringify(shape.value) ?? '', 40)}</span>;
  const Control: ComponentType<ControlProps> =
    shape.kind === 'number' ? NumberField : shape.kind === 'choice' ? ChoiceField : TextField;
  const narrow = shape.kind === 'number' ? { ...shape, schema: withoutRange(shape.schema) } : shape;
  return (
    <>
      <label class="visually-hidden" for={id}>
        {cleanLine(name, 100)}
      </label>
      <Control
        {...props}
        shape={narrow}
        id={id}
        isInvalid={error !== undefined}
        describedBy={error === undefined ? undefined : `${id}-error`}
      />
      {error !== undefined && (
        <p class="form-error" id={`${id}-error`}>
          {clean(error)}
        </p>
      )}
    </>
  );
}

/** In a cell there is no room for "1…100"; going over it is still said. */
function withoutRange(schema: Shape['schema']): Shape['schema'] {
  const { minimum, maximum, ...rest } = schema;
  return rest;
}

function changed(row: unknown, key: string, next: unknown): unknown {
  const object = isObject(row) ? row : {};
  const { [key]: _, ...others } = object;
  return next === undefined ? others : { ...object, [key]: next };
}
