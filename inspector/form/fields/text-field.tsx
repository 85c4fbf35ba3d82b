import type { VNode } from 'preact';
import { cleanLine } from '../../../src/tooling/clean.js';
import type { ControlProps } from '../form-context.js';
import { FileField } from './file-field.js';

const MODES: Readonly<Record<string, 'email' | 'url'>> = { email: 'email', uri: 'url', url: 'url' };
/** Longer than this, or with a line break, it gets several lines. */
const LONG = 80;

export function TextField(props: ControlProps): VNode {
  const { shape, value, onChange, id, describedBy, isInvalid, isRequired } = props;
  const { schema } = shape;
  if (schema['contentEncoding'] === 'base64' || schema['format'] === 'byte' || schema['format'] === 'binary')
    return <FileField {...props} />;
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  const format = String(schema['format'] ?? '');
  const most = schema['maxLength'];
  const isLong =
    text.includes('\n') ||
    text.length > LONG ||
    (format === '' && typeof most === 'number' && most > 500) ||
    schema['contentMediaType'] !== undefined;
  const shared = {
    id,
    class: 'field',
    value: text,
    placeholder: placeholderOf(schema),
    'aria-describedby': describedBy,
    'aria-invalid': isInvalid,
    'aria-required': isRequired,
    spellcheck: false,
  };
  // A date that was written wrong would be lost in a field for dates.
  const isDate = format === 'date' && (text === '' || /^\d{4}-\d{2}-\d{2}$/.test(text));
  const take = (next: string) => onChange(next === '' ? undefined : next);
  if (isLong)
    return (
      <textarea
        {...shared}
        rows={Math.min(12, Math.max(3, text.split('\n', 12).length + 1))}
        onInput={(event) => take(event.currentTarget.value)}
      />
    );
  return (
    <div class="form-with-button">
      {isDate ? (
        <input {...shared} type="date" onInput={(event) => take(event.currentTarget.value)} />
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={MODES[format] ?? 'text'}
          autocomplete="off"
          onInput={(event) => take(event.currentTarget.value)}
        />
      )}
      {text === '' &&
        typeof schema['pattern'] === 'string' &&
        shared.placeholder === undefined &&
        !isDate && (
          <span class="label muted form-pattern mono" title={cleanLine(schema['pattern'], 200)}>
            {/* The name of a format says more than the pattern that stands for it. */}
            {cleanLine(format || schema['pattern'], 40)}
          </span>
        )}
      {format === 'date-time' && (
        <button type="button" class="button quiet" onClick={() => onChange(new Date().toISOString())}>
          Now
        </button>
      )}
    </div>
  );
}

function placeholderOf(schema: Readonly<Record<string, unknown>>): string | undefined {
  const examples = schema['examples'];
  const [first] = Array.isArray(examples) ? examples : [schema['example']];
  if (first === undefined) return schema['format'] === 'date-time' ? '2026-07-28T10:00:00Z' : undefined;
  return `like ${typeof first === 'string' ? first.slice(0, 80) : (JSON.stringify(first) ?? '')}`;
}
