import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { clean, cleanJson } from '../../../src/tooling/clean.js';
import { Button } from '../controls/button.js';
import { CopyButton } from '../controls/copy-button.js';
import { bytes } from './format.js';

const SHOWN_AT_FIRST = 20_000;
const SHOWN_AT_MOST = 500_000;

/** Code or raw text with a copy button and lines that can be wrapped. A long one is shown in parts. */
export function CodeBlock({
  text,
  language = 'text',
  label = 'Code',
  isWrapped = true,
}: {
  readonly text: string;
  readonly language?: 'json' | 'text' | 'code';
  readonly label?: string;
  readonly isWrapped?: boolean;
}): VNode {
  const wraps = useSignal(isWrapped);
  const limit = useSignal(SHOWN_AT_FIRST);
  const shown = text.slice(0, limit.value);
  const rest = text.length - shown.length;
  return (
    <figure class="code-block" aria-label={label}>
      <div class="code-block-actions">
        <Button
          look="quiet"
          icon="wrap"
          label="Wrap lines"
          isPressed={wraps.value}
          onClick={() => {
            wraps.value = !wraps.value;
          }}
        />
        <CopyButton text={text} />
      </div>
      <pre class={wraps.value ? 'wraps' : ''} tabIndex={0}>
        <code>{language === 'json' ? cleanJson(shown) : clean(shown)}</code>
      </pre>
      {rest > 0 && (
        <p class="code-block-rest muted">
          {bytes(rest)} more.{' '}
          {limit.value < SHOWN_AT_MOST && (
            <Button
              look="quiet"
              onClick={() => {
                limit.value = Math.min(limit.value * 5, SHOWN_AT_MOST);
              }}
            >
              Show more
            </Button>
          )}
        </p>
      )}
    </figure>
  );
}
