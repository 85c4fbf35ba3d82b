import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';

/** Names and values, one pair a line. A line that is not a pair is said to be wrong. */
export function PairsField({
  label,
  text,
  separator,
  placeholder,
}: {
  readonly label: string;
  readonly text: Signal<string>;
  readonly separator: ':' | '=';
  readonly placeholder: string;
}): VNode {
  const id = useId();
  const wrong = text.value.split('\n').find((line) => line.trim() !== '' && line.indexOf(separator) < 1);
  return (
    <>
      <label for={id}>{label}</label>
      <div>
        <textarea
          id={id}
          class="field"
          rows={Math.min(8, text.value.split('\n', 8).length + (text.value === '' ? 0 : 1))}
          placeholder={`${placeholder}   one a line`}
          aria-invalid={wrong !== undefined}
          spellcheck={false}
          autocapitalize="off"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
        {wrong !== undefined && (
          <p class="form-error">
            Write “name{separator} value”: this line has no {separator}
          </p>
        )}
      </div>
    </>
  );
}

/** The pairs that were typed; lines that are not pairs are left out. */
export function pairsOf(text: string, separator: ':' | '='): Readonly<Record<string, string>> {
  const pairs = text.split('\n').flatMap((line) => {
    const at = line.indexOf(separator);
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const];
  });
  return Object.fromEntries(pairs);
}
