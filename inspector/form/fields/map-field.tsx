import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { isObject } from '../../../src/jsonrpc/message.js';
import { shapeOf } from '../../../src/schema/read/shape.js';
import { Button } from '../../parts/controls/button.js';
import { pointer } from '../check.js';
import { type ControlProps, FormContext } from '../form-context.js';
import { Field } from './field.js';

/** Names and values that the schema leaves open. */
export function MapField({ shape, value, onChange, path, depth, id }: ControlProps): VNode {
  const { root } = useContext(FormContext);
  const typed = useSignal('');
  const object = isObject(value) ? value : {};
  const entries = Object.entries(object);
  const schema = shape.kind === 'map' && isObject(shape.values) ? shape.values : {};
  const isTaken = Object.hasOwn(object, typed.value);
  const add = () => {
    if (typed.value === '' || isTaken) return;
    onChange({
      ...object,
      [typed.value]: Object.keys(schema).length === 0 || shapeOf(schema, root).kind === 'string' ? '' : null,
    });
    typed.value = '';
  };
  return (
    <div class="form-nested">
      {entries.map(([name, each]) => (
        <div key={name} class="form-map-row">
          <Field
            schema={schema}
            name={name}
            value={each}
            onChange={(next) => onChange({ ...object, [name]: next ?? '' })}
            path={pointer(path, name)}
            depth={depth + 1}
            isRequired={false}
          />
          <Button
            look="quiet"
            icon="close"
            label={`Remove ${name}`}
            onClick={() => onChange(Object.fromEntries(entries.filter(([key]) => key !== name)))}
          />
        </div>
      ))}
      <div class="form-with-button">
        <input
          id={id}
          class="field mono"
          placeholder="name"
          aria-label="Name of a new entry"
          aria-invalid={isTaken}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.ctrlKey) return;
            event.preventDefault();
            add();
          }}
        />
        <Button icon="plus" isDisabled={typed.value === '' || isTaken} onClick={add}>
          Add
        </Button>
      </div>
    </div>
  );
}
