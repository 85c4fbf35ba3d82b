import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { bytes } from '../../parts/values/format.js';
import type { ControlProps } from '../form-context.js';

const MAX_BYTES = 20_000_000;

/** The content of a file, as base64. */
export function FileField({ shape, value, onChange, id, describedBy, isInvalid }: ControlProps): VNode {
  const chosen = useSignal<string | undefined>(undefined);
  const wrong = useSignal<string | undefined>(undefined);
  const text = typeof value === 'string' ? value : '';
  const media = shape.schema['contentMediaType'];
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    wrong.value = file.size > MAX_BYTES ? `${file.name} is larger than ${bytes(MAX_BYTES)}.` : undefined;
    if (wrong.value !== undefined) return;
    chosen.value = `${file.name}, ${bytes(file.size)}`;
    onChange(await base64Of(file));
  };
  return (
    <div class="form-file">
      <input
        id={id}
        type="file"
        accept={typeof media === 'string' ? media.slice(0, 100) : undefined}
        aria-describedby={describedBy}
        aria-invalid={isInvalid}
        onChange={(event) => void take(event.currentTarget.files?.[0])}
      />
      {text !== '' && (
        <span class="label muted">
          {chosen.value ?? `${bytes(Math.floor((text.length * 3) / 4))} of base64`}
        </span>
      )}
      {wrong.value !== undefined && <p class="form-error">{wrong.value}</p>}
    </div>
  );
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    // A data URL is the browser's own way to base64.
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '');
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'));
    reader.readAsDataURL(file);
  });
}
