import './form.css';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { isObject, type JsonObject } from '../../src/jsonrpc/message.js';
import { shapeOf } from '../../src/schema/read/shape.js';
import { Field } from './fields/field.js';
import { ObjectFields } from './fields/object-field.js';
import { FormContext } from './form-context.js';
import { isTooLarge } from './size.js';

export interface SchemaFormProps {
  readonly schema: JsonObject;
  /** The values that were typed so far. Values of another type than the schema wants are kept and shown. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** The words beside the fields, by JSON pointer: from `check`, or from the server. */
  readonly errors: ReadonlyMap<string, string>;
  /** Makes the ids of the fields unique on the page. */
  readonly idPrefix: string;
  /** More about single fields, by JSON pointer. */
  readonly notes?: ReadonlyMap<string, VNode> | undefined;
}

/** A form for a JSON Schema. Parts that have no field of their own get an editor for JSON. */
export function SchemaForm({ schema, value, onChange, errors, idPrefix, notes }: SchemaFormProps): VNode {
  const context = useMemo(
    () => ({ root: schema, errors, idPrefix, notes }),
    [schema, errors, idPrefix, notes],
  );
  const shape = useMemo(() => shapeOf(schema, schema), [schema]);
  const isHuge = useMemo(() => isTooLarge(schema), [schema]);
  // Without fields, arguments that nobody describes are not asked for.
  const isPlainObject = shape.kind === 'object' || (shape.kind === 'map' && !isObject(shape.values));
  return (
    <FormContext.Provider value={context}>
      <div class="form">
        {isHuge && <p class="muted">This schema is too large for a form: write JSON instead.</p>}
        {isPlainObject && !isHuge ? (
          <ObjectFields shape={shape} value={value} onChange={onChange} path="" depth={0} />
        ) : (
          <Field
            schema={isHuge ? {} : schema}
            name=""
            value={value}
            onChange={onChange}
            path=""
            depth={0}
            isRequired={true}
          />
        )}
      </div>
    </FormContext.Provider>
  );
}
