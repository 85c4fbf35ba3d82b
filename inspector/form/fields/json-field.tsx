import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { tryParse } from '../../../src/jsonrpc/try-parse.js';
import type { ControlProps } from '../form-context.js';

/** JSON for values that have no field of their own. JSON that cannot be read stays as it was typed. */
export function JsonField({ value, onChange, id, describedBy, isInvalid, name }: ControlProps): VNode {
  const text = useSignal(written(value));
  const wrong = useSignal<string | undefined>(undefined);
  useEffect(() => {
    // Changed from elsewhere: by the editor, or by the arguments of another run.
    if (wrong.value === undefined && written(tryParse(text.value)) !== written(value))
      text.value = written(value);
  }, [value]);
  return (
    <>
      <textarea
        id={id}
        class="field"
        rows={Math.min(12, Math.max(2, text.value.split('\n', 12).length))}
        spellcheck={false}
        placeholder="JSON"
        aria-label={name === '' ? 'JSON' : undefined}
        aria-describedby={describedBy}
        aria-invalid={isInvalid || wrong.value !== undefined}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          try {
            const next = text.value.trim() === '' ? undefined : (JSON.parse(text.value) as unknown);
            wrong.value = undefined;
            onChange(next);
          } catch (error) {
            wrong.value = error instanceof Error ? error.message : 'This is not JSON.';
          }
        }}
      />
      {wrong.value !== undefined && <p class="form-error">{wrong.value}</p>}
    </>
  );
}

function written(value: unknown): string {
  return value === undefined ? '' : (JSON.stringify(value, undefined, 2) ?? '');
}
