import type { ComponentChildren, VNode } from 'preact';
import type { Failure } from '../../src/inspector/contract/failure.js';
import { clean, cleanLine } from '../../src/tooling/clean.js';
import { Icon } from './icon.js';
import { MessageWithRef } from './thrown-error.js';
import { CodeBlock } from './values/code-block.js';
import { counted } from './values/format.js';

/** A failure: what happened, what to do, and the raw data below. */
export function ErrorPanel({
  failure,
  title,
  children,
}: {
  readonly failure: Failure;
  readonly title?: string;
  /** Buttons that do something about it. */
  readonly children?: ComponentChildren;
}): VNode {
  const { output } = failure;
  const number = failure.number === undefined ? '' : `, ${failure.number}`;
  return (
    <div class="error-panel">
      <Icon name="cross" label="Error" />
      <div class="error-panel-body">
        {title !== undefined && <strong>{title}</strong>}
        {output?.cause !== undefined && (
          <strong class="mono error-panel-cause">{cleanLine(output.cause, 500)}</strong>
        )}
        <p class="error-panel-message">
          <MessageWithRef text={failure.message} />
        </p>
        {output !== undefined && output.lines.length > 0 && (
          <CodeBlock text={output.lines.join('\n')} label="The last lines of stderr" />
        )}
        {output !== undefined && output.earlier.length > 0 && (
          <details>
            <summary class="label">
              {counted(output.earlier.length, 'line')} of stderr from before this call
            </summary>
            <CodeBlock text={output.earlier.join('\n')} label="Earlier lines of stderr" />
          </details>
        )}
        {failure.advice !== undefined && <p>{clean(failure.advice)}</p>}
        <p class="label muted">
          {failure.code}
          {number}
        </p>
        {failure.data !== undefined && (
          <details>
            <summary class="label">Data</summary>
            <CodeBlock text={JSON.stringify(failure.data, undefined, 2) ?? ''} language="json" />
          </details>
        )}
        {children !== undefined && <div class="error-panel-actions">{children}</div>}
      </div>
    </div>
  );
}
