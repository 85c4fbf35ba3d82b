import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { clean } from '../../../../src/tooling/clean.js';
import { counted } from '../../../parts/values/format.js';
import { folded, lineDifference } from './line-difference.js';

const MAX_LINES = 2000;
const SIGNS = { same: ' ', added: '+', removed: '−' } as const;
const WORDS = { same: '', added: 'added: ', removed: 'removed: ' } as const;

/** The lines that changed since the read before. */
export function DifferenceView({
  before,
  after,
}: {
  readonly before: string;
  readonly after: string;
}): VNode {
  const lines = useMemo(() => folded(lineDifference(before, after)), [before, after]);
  return (
    <div class="resources-difference">
      {lines.slice(0, MAX_LINES).map((line, at) =>
        typeof line === 'number' ? (
          <p key={at} class="resources-fold label muted">
            {counted(line, 'line')} unchanged
          </p>
        ) : (
          <p key={at} class={`resources-line mono ${line.kind}`}>
            <span aria-hidden="true">{SIGNS[line.kind]}</span>
            <span>
              <span class="visually-hidden">{WORDS[line.kind]}</span>
              {clean(line.text.slice(0, 2000)) || ' '}
            </span>
          </p>
        ),
      )}
      {lines.length > MAX_LINES && <p class="muted">{counted(lines.length - MAX_LINES, 'more line')}.</p>}
    </div>
  );
}
