// Progress on one line of stderr that is drawn over.

import type { Progress } from '../../client/model/options.js';
import { cleanLine } from '../../tooling/clean.js';
import type { Output } from './output.js';

const WIDTH = 20;

/** Shows the progress of a call: drawn over on a terminal, as lines if `asLines`, and nowhere otherwise. */
export function progressLine(out: Output, name: string, asLines: boolean): (progress: Progress) => void {
  const started = performance.now();
  return function show(progress) {
    if (out.isWatched) out.redraw(line(progress, name, performance.now() - started));
    else if (asLines) out.note(counted(progress, name).join('  '));
  };
}

function line(progress: Progress, name: string, ms: number): string {
  const [title = '', ...rest] = counted(progress, name);
  return [title, bar(progress), ...rest, `${(ms / 1000).toFixed(1)} s`]
    .filter((part) => part !== '')
    .join('  ');
}

function counted({ progress, total, message }: Progress, name: string): readonly string[] {
  const count = total === undefined ? String(progress) : `${progress} of ${total}`;
  return [cleanLine(name, 40), count, ...(message ? [cleanLine(message, 80)] : [])];
}

function bar({ progress, total }: Progress): string {
  if (total === undefined || !(total > 0)) return '';
  const filled = Math.round(Math.min(1, Math.max(0, progress / total)) * WIDTH);
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
}
