// One difference between two results, on one line.

import { cleanLine } from '../../tooling/clean.js';
import type { ValueChange } from '../../tooling/tape/compare-values.js';
import type { Output } from '../terminal/output.js';

const MAX_VALUE = 60;
const CONTEXT = 20;

/** Prints a difference: `~ total  3 → 4`. */
export function printDifference({ path, change, before, after }: ValueChange, out: Output): void {
  const place = out.style('bold', cleanLine(path || 'the result', 120));
  switch (change) {
    case 'added':
      return out.styled(`    ${out.style('green', '+')} ${place}  ${written(after, 0)}`);
    case 'removed':
      return out.styled(`    ${out.style('red', '-')} ${place}  ${written(before, 0)}`);
    case 'changed': {
      const at = firstDifference(before, after);
      return out.styled(
        `    ${out.style('yellow', '~')} ${place}  ${written(before, at)} → ${written(after, at)}`,
      );
    }
  }
}

/** A value around a position. */
function written(value: unknown, at: number): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const start = text.length <= MAX_VALUE ? 0 : Math.max(0, at - CONTEXT);
  const part = cleanLine(text.slice(start, start + MAX_VALUE * 2), MAX_VALUE);
  const quoted = typeof value === 'string' ? JSON.stringify(part) : part;
  return start > 0 ? `…${quoted}` : quoted;
}

function firstDifference(before: unknown, after: unknown): number {
  if (typeof before !== 'string' || typeof after !== 'string') return 0;
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  return at;
}
