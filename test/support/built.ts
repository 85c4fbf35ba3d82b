import { execFileSync } from 'node:child_process';
import process from 'node:process';

/** Builds before the first test: some tests start programs from dist, and none may find a half-finished build. */
export default function built(): void {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: ['ignore', 'ignore', 'inherit'] });
}
