import type { ComponentChildren, VNode } from 'preact';
import type { Failure } from '../../src/inspector/contract/failure.js';
import { clean } from '../../src/tooling/clean.js';
import { Icon } from './icon.js';
import { CodeBlock } from './values/code-block.js';

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
  const number = failure.number === undefined ? '' : `, ${failure.number}`;
  return (
    <div class="error-panel">
      <Icon name="cross" label="Error" />
      <div class="error-panel-body">
        {title !== undefined && <strong>{title}</strong>}
        <p class="error-panel-message">{clean(failure.message)}</p>
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
