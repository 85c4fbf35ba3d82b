import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { isObject } from '../../../src/jsonrpc/message.js';
import type { Shape, ShapeField } from '../../../src/schema/read/shape.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Icon } from '../../parts/icon.js';
import { pointer } from '../check.js';
import type { ControlProps } from '../form-context.js';
import { Field } from './field.js';

/** Up to this many optional fields are always shown. */
const OPTIONAL_SHOWN = 3;

/** An object inside another. */
export function ObjectField(props: ControlProps): VNode {
  return (
    <div class="form-nested">
      <ObjectFields {...props} />
    </div>
  );
}

/** The fields of an object: the required and the filled ones; many others are folded. */
export function ObjectFields({
  shape,
  value,
  onChange,
  path,
  depth,
  hidden,
}: {
  readonly shape: Shape;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly path: string;
  readonly depth: number;
  /** A field that something else shows. */
  readonly hidden?: string | undefined;
}): VNode {
  const isOpen = useSignal(false);
  const object = isObject(value) ? value : {};
  const rest = shape.kind === 'object' ? shape.rest : undefined;
  const all = (shape.kind === 'object' ? shape.fields : []).filter(({ name }) => name !== hidden);
  const known = new Set(all.map(({ name }) => name));
  // The fields do not jump: what was empty at first stays folded, or unfolded, while it is typed.
  const begun = useSignal(new Set(Object.keys(object)));
  const foldable = all.filter(({ name, isRequired }) => !isRequired && !begun.value.has(name));
  const folded = foldable.length > OPTIONAL_SHOWN && foldable.length < all.length ? foldable : [];
  const foldedNames = new Set(folded.map(({ name }) => name));
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...others } = object;
    onChange(next === undefined ? others : { ...object, [name]: next });
  };
  const field = ({ name, schema, isRequired }: ShapeField) => (
    <Field
      key={name}
      schema={schema}
      name={name}
      value={Object.hasOwn(object, name) ? object[name] : undefined}
      onChange={(next) => set(name, next)}
      path={pointer(path, name)}
      depth={depth + 1}
      isRequired={isRequired}
    />
  );
  const extra = Object.entries(object).filter(([name]) => !known.has(name) && name !== hidden);
  return (
    <>
      {all.filter(({ name }) => !foldedNames.has(name)).map(field)}
      {/* Fields that the schema does not name, but somebody wrote as JSON. */}
      {extra.map(([name]) => field({ name, schema: rest ?? {}, isRequired: false }))}
      {folded.length > 0 && (
        <div class="form-optional">
          <button
            type="button"
            class="form-fold"
            aria-expanded={isOpen.value}
            onClick={() => {
              isOpen.value = !isOpen.value;
            }}
          >
            <Icon name={isOpen.value ? 'down' : 'right'} size={12} />
            {folded.length} optional
            {!isOpen.value && (
              <span class="muted mono">{cleanLine(folded.map(({ name }) => name).join(' '), 120)}</span>
            )}
          </button>
          {isOpen.value && folded.map(field)}
        </div>
      )}
      {all.length === 0 && extra.length === 0 && depth === 0 && <p class="muted">No arguments.</p>}
    </>
  );
}
