import type { VNode } from 'preact';
import type { ControlProps } from '../form-context.js';

/** A number. Anything else is kept as it was typed, and said to be wrong. */
export function NumberField({
  shape,
  value,
  onChange,
  id,
  describedBy,
  isInvalid,
  isRequired,
}: ControlProps): VNode {
  const { minimum, maximum, multipleOf } = shape.schema;
  const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  const add = (by: number) => {
    const next = (typeof value === 'number' ? value : 0) + by;
    const least = typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY;
    const most = typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY;
    onChange(Math.min(most, Math.max(least, Number(next.toPrecision(12)))));
  };
  const range = rangeOf(minimum, maximum);
  return (
    <div class="form-number">
      <input
        id={id}
        class="field"
        inputMode={shape.kind === 'number' && shape.isInteger ? 'numeric' : 'decimal'}
        autocomplete="off"
        value={text}
        aria-describedby={describedBy}
        aria-invalid={isInvalid}
        aria-required={isRequired}
        onInput={(event) => onChange(numberOrText(event.currentTarget.value))}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
          event.preventDefault();
          add(event.key === 'ArrowUp' ? step : -step);
        }}
      />
      {range !== '' && <span class="label muted form-range">{range}</span>}
    </div>
  );
}

/** As in `1…100`, `at least 2`. The largest safe integer is what schema libraries write for "no limit". */
function rangeOf(minimum: unknown, maximum: unknown): string {
  const least = isLimit(minimum) ? minimum : undefined;
  const most = isLimit(maximum) ? maximum : undefined;
  if (least !== undefined && most !== undefined) return `${least}…${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? '' : `at most ${most}`;
}

function isLimit(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
}

function numberOrText(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  // "1." and "1e" are on their way to a number, and must not lose what was typed.
  const number = Number(trimmed);
  return Number.isFinite(number) && String(number) === trimmed ? number : looseNumber(trimmed, text);
}

function looseNumber(trimmed: string, text: string): unknown {
  const number = Number(trimmed);
  return Number.isFinite(number) && !/[.eE]0*$|^[-+]?0\d|\.\d*0$/.test(trimmed) ? number : text;
}
