import { useSignal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { shapeOf } from '../../../src/schema/read/shape.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { type FieldKind, fieldKind } from '../field-kind.js';
import { type ControlProps, FormContext, idOf } from '../form-context.js';
import { initialValue } from '../initial-value.js';
import { ArrayField } from './array-field.js';
import { BooleanField } from './boolean-field.js';
import { ChoiceField, ChoicesField } from './choice-field.js';
import { JsonField } from './json-field.js';
import { MapField } from './map-field.js';
import { NumberField } from './number-field.js';
import { ObjectField } from './object-field.js';
import { TextField } from './text-field.js';
import { UnionField } from './union-field.js';

/** Deeper than this, a form is harder to read than JSON. */
const MAX_DEPTH = 6;

const CONTROLS: Readonly<Record<FieldKind, ComponentType<ControlProps>>> = {
  text: TextField,
  number: NumberField,
  boolean: BooleanField,
  choice: ChoiceField,
  choices: ChoicesField,
  const: ConstField,
  object: ObjectField,
  array: ArrayField,
  map: MapField,
  union: UnionField,
  json: JsonField,
};

/** Those that contain fields, or several controls: their label is the name of a group. */
const GROUPS: ReadonlySet<FieldKind> = new Set([
  'object',
  'array',
  'map',
  'union',
  'choices',
  'choice',
  'boolean',
]);

export interface FieldProps {
  readonly schema: unknown;
  readonly name: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly path: string;
  readonly depth: number;
  readonly isRequired: boolean;
  /** An item of an array, which is there or is not: it needs no star. */
  readonly isItem?: boolean;
}

/** A field with its label, its description, and what is wrong with it. */
export function Field({
  schema,
  name,
  value,
  onChange,
  path,
  depth,
  isRequired,
  isItem = false,
}: FieldProps): VNode {
  const { root, errors, idPrefix, notes } = useContext(FormContext);
  const shape = useMemo(() => shapeOf(schema, root), [schema, root]);
  const wanted = useMemo(() => fieldKind(shape, root), [shape, root]);
  const kind = depth > MAX_DEPTH && GROUPS.has(wanted) ? 'json' : wanted;
  const Control = CONTROLS[kind];
  const id = idOf(idPrefix, path);
  const error = errors.get(path);
  const title = shape.schema['title'];
  const description = shape.schema['description'];
  const isGroup = GROUPS.has(kind);
  const described = [
    typeof description === 'string' && `${id} description`,
    error !== undefined && `${id} error`,
  ].filter(Boolean);
  const ids = described.map((each) => String(each).replaceAll(' ', '-')).join(' ') || undefined;
  const label = (
    <>
      <span class="form-name">{cleanLine(name, 80)}</span>
      {isRequired && !isItem && (
        <span class="form-required" title="Required">
          *
        </span>
      )}
    </>
  );
  // A union that was set may have no value yet: nobody knows which one to begin with.
  const isSet = useSignal(value !== undefined);
  const isAbsentGroup =
    value === undefined &&
    !isRequired &&
    (kind === 'object' || kind === 'map' || (kind === 'union' && !isSet.value));
  const isBlock =
    !isAbsentGroup && (kind === 'object' || kind === 'map' || kind === 'union' || kind === 'array');
  const hasNull = shape.isNullable && kind !== 'json';
  return (
    <div
      class={`form-field ${isBlock ? 'is-block' : ''} ${error === undefined ? '' : 'is-wrong'}`}
      {...(isGroup && name !== '' && { role: 'group' as const, 'aria-labelledby': `${id}-label` })}
    >
      {name !== '' && (
        <div class="form-label" title={typeof title === 'string' ? cleanLine(title, 200) : undefined}>
          {isGroup ? <span id={`${id}-label`}>{label}</span> : <label for={id}>{label}</label>}
          {hasNull && (
            <label class="form-null label muted">
              <input
                type="checkbox"
                checked={value === null}
                onChange={(event) => onChange(event.currentTarget.checked ? null : undefined)}
              />
              null
            </label>
          )}
          {isBlock && !isRequired && (value !== undefined || kind === 'union') && (
            <Button
              look="quiet"
              icon="close"
              label={`Leave out ${name}`}
              onClick={() => {
                isSet.value = false;
                onChange(undefined);
              }}
            />
          )}
        </div>
      )}
      <div class="form-control">
        {value === null && hasNull ? (
          <span class="muted mono">null</span>
        ) : isAbsentGroup ? (
          <Button
            look="quiet"
            icon="plus"
            class="form-add"
            label={`Set ${cleanLine(name, 60)}`}
            onClick={() => {
              isSet.value = true;
              onChange(initialValue(schema, root) ?? (kind === 'union' ? undefined : {}));
            }}
          >
            Set
          </Button>
        ) : (
          <Control
            shape={shape}
            value={value}
            onChange={onChange}
            path={path}
            depth={depth}
            id={id}
            name={name}
            isRequired={isRequired}
            describedBy={ids}
            isInvalid={error !== undefined}
          />
        )}
        {error !== undefined && (
          <p class="form-error" id={`${id}-error`}>
            {clean(error)}
          </p>
        )}
        {typeof description === 'string' && (
          <p class="form-description muted" id={`${id}-description`}>
            {clean(description.slice(0, 2000))}
          </p>
        )}
        {notes?.get(path)}
      </div>
    </div>
  );
}

function ConstField({ shape, value, onChange, id }: ControlProps): VNode {
  const fixed = shape.kind === 'const' ? shape.value : undefined;
  return (
    <label class="form-check mono">
      <input
        id={id}
        type="checkbox"
        checked={value !== undefined}
        onChange={(event) => onChange(event.currentTarget.checked ? fixed : undefined)}
      />
      {cleanLine(JSON.stringify(fixed) ?? '', 100)}
    </label>
  );
}
