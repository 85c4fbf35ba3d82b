import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { isObject } from '../../src/jsonrpc/message.js';
import { clean } from '../../src/tooling/clean.js';

const MAX_ROWS = 24;
const SHOWN_ERRORS = 5;

/** An editor for a JSON object. It says where the text cannot be read, and what is wrong with the values. */
export function JsonEditor({
  text,
  label,
  errors,
  onChange,
}: {
  readonly text: string;
  readonly label: string;
  readonly errors: ReadonlyMap<string, string>;
  readonly onChange: (text: string) => void;
}): VNode {
  const id = useId();
  const wrong = problemOf(text);
  const shown = wrong === undefined ? [...errors].slice(0, SHOWN_ERRORS) : [];
  return (
    <div class="form-json">
      <textarea
        class="field"
        aria-label={label}
        aria-invalid={wrong !== undefined}
        aria-describedby={id}
        spellcheck={false}
        autocapitalize="off"
        rows={Math.min(MAX_ROWS, Math.max(6, text.split('\n', MAX_ROWS).length + 1))}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={indent}
      />
      <div id={id}>
        {wrong !== undefined && <p class="form-error">{wrong}</p>}
        {shown.map(([path, message]) => (
          <p key={path} class="form-error">
            <span class="mono">{clean(path.slice(1).replaceAll('/', '.'))}</span> {clean(message)}
          </p>
        ))}
      </div>
    </div>
  );
}

/** The reason why the typed JSON is not an object; undefined if it is one. */
function problemOf(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? undefined : 'The arguments must be a JSON object, in braces.';
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    return `This is not JSON yet${placeOf(text, message)}.`;
  }
}

/** Browsers name the place in different ways; the position is the most common one. */
function placeOf(text: string, message: string): string {
  const position = /position (\d{1,9})/.exec(message)?.[1];
  if (position === undefined) return ': it ends too early';
  const before = text.slice(0, Number(position)).split('\n');
  return `: look at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** A new line begins where the one before began. The tabulator is left to the keyboard's user, who wants to get on. */
function indent(event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }): void {
  if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || event.isComposing) return;
  const field = event.currentTarget;
  const line = field.value.slice(
    field.value.lastIndexOf('\n', field.selectionStart - 1) + 1,
    field.selectionStart,
  );
  const space = line.length - line.trimStart().length + (/[{[]\s*$/.test(line.slice(-20)) ? 2 : 0);
  if (space === 0) return;
  event.preventDefault();
  field.setRangeText(`\n${' '.repeat(space)}`, field.selectionStart, field.selectionEnd, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
