import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('run.js', import.meta.url));

/** The time for a test that simulates many clusters. */
export const LONG_MS = 600_000;

/** Runs the simulation. Returns its lines. */
export function run(...args: readonly string[]): Promise<readonly string[]> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...args],
      { maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout, stderr) => {
        resolve(`${stdout}${stderr}`.trim().split('\n'));
      },
    );
  });
}
