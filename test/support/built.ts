import { execFileSync } from 'node:child_process';
import process from 'node:process';
import type { TestProject } from 'vitest/node';

/** Builds before the first test: some tests start programs from dist, and none may find a half-finished build. */
export default function built(project: TestProject): void {
  // Vitest calls this for the root and for each project.
  if (!project.isRootProject()) return;
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: ['ignore', 'ignore', 'inherit'] });
}
