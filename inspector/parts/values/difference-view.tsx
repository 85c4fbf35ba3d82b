import './difference.css';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { clean } from '../../../src/tooling/clean.js';
import { counted } from './format.js';
import { folded, lineDifference } from './line-difference.js';

const MAX_LINES = 2000;
const SIGNS = { same: ' ', added: '+', removed: '−' } as const;
const WORDS = { same: '', added: 'added: ', removed: 'removed: ' } as const;

/** The lines in which two strings differ, with a few around them, or all lines. */
export function DifferenceView({
  before,
  after,
  isFolded = true,
}: {
  readonly before: string;
  readonly after: string;
  /** Whether equal lines are left out. */
  readonly isFolded?: boolean;
}): VNode {
  const lines = useMemo(() => {
    const all = lineDifference(before, after);
    return isFolded ? folded(all) : all;
  }, [before, after, isFolded]);
  return (
    <div class="difference">
      {lines.slice(0, MAX_LINES).map((line, at) =>
        typeof line === 'number' ? (
          <p key={at} class="difference-fold label muted">
            {counted(line, 'line')} unchanged
          </p>
        ) : (
          <p key={at} class={`difference-line mono ${line.kind}`}>
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
