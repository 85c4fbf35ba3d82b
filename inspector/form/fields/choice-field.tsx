import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { type ShapeOption, shapeOf } from '../../../src/schema/read/shape.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { type ControlProps, FormContext } from '../form-context.js';

/** Up to this many choices are shown open. */
const OPEN = 5;
const FILTERED = 12;
const LONG_LABELS = 60;

/** One of several. */
export function ChoiceField({
  shape,
  value,
  onChange,
  id,
  describedBy,
  isInvalid,
  isRequired,
  name,
}: ControlProps): VNode {
  const options = shape.kind === 'choice' ? shape.options : [];
  const at = indexOf(options, value);
  const length = options.reduce((sum, { label }) => sum + label.length, 0);
  if (options.length <= OPEN && length <= LONG_LABELS)
    return (
      <div class="form-segments">
        {options.map((option, index) => (
          <label key={option.label} class="form-segment">
            <input
              type="radio"
              name={id}
              id={index === 0 ? id : `${id}-${index}`}
              checked={at === index}
              aria-describedby={describedBy}
              onChange={() => onChange(option.value)}
              onClick={() => {
                if (!isRequired && at === index) onChange(undefined);
              }}
            />
            {cleanLine(option.label, 60)}
          </label>
        ))}
      </div>
    );
  return (
    <select
      id={id}
      class="field"
      aria-label={name}
      value={at < 0 ? '' : String(at)}
      aria-describedby={describedBy}
      aria-invalid={isInvalid}
      aria-required={isRequired}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        onChange(chosen === '' ? undefined : options[Number(chosen)]?.value);
      }}
    >
      <option value="">
        {value === undefined ? 'Choose…' : at < 0 ? cleanLine(JSON.stringify(value) ?? '', 60) : 'None'}
      </option>
      {options.map((option, index) => (
        <option key={option.label} value={String(index)}>
          {cleanLine(option.label, 100)}
        </option>
      ))}
    </select>
  );
}

/** Several of several. */
export function ChoicesField({ shape, value, onChange, id, describedBy, name }: ControlProps): VNode {
  const filter = useSignal('');
  const chosen = Array.isArray(value) ? value : [];
  const { root } = useContext(FormContext);
  const item = shape.kind === 'array' ? shapeOf(shape.items, root) : shape;
  const options = item.kind === 'choice' ? item.options : [];
  const wanted = filter.value.toLowerCase();
  const shown = options.filter(({ label }) => label.toLowerCase().includes(wanted)).slice(0, 200);
  const most = shape.schema['maxItems'];
  return (
    <div class="form-choices">
      {options.length > FILTERED && (
        <input
          class="field"
          type="search"
          aria-label={`Filter ${name}`}
          placeholder={`Filter ${options.length} choices`}
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
        />
      )}
      <div class={options.length > OPEN ? 'form-boxes is-many' : 'form-boxes'}>
        {shown.map((option, index) => {
          const isChosen = indexIn(chosen, option.value) >= 0;
          return (
            <label key={option.label} class="form-check">
              <input
                type="checkbox"
                id={index === 0 ? id : undefined}
                checked={isChosen}
                aria-describedby={describedBy}
                onChange={() =>
                  onChange(isChosen ? without(chosen, option.value) : [...chosen, option.value])
                }
              />
              {cleanLine(option.label, 80)}
            </label>
          );
        })}
      </div>
      {typeof most === 'number' && <span class="label muted">up to {most}</span>}
    </div>
  );
}

function indexOf(options: readonly ShapeOption[], value: unknown): number {
  return indexIn(
    options.map((option) => option.value),
    value,
  );
}

function indexIn(values: readonly unknown[], value: unknown): number {
  const text = JSON.stringify(value);
  return values.findIndex((each) => each === value || JSON.stringify(each) === text);
}

function without(values: readonly unknown[], value: unknown): readonly unknown[] {
  return values.filter((_, at) => at !== indexIn(values, value));
}
