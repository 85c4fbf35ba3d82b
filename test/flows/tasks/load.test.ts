import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';

/** `LOAD=0.2` has a fifth of the tasks. */
const factor = Number(process.env['LOAD'] ?? '1');
const OPEN = 10_000 * factor;
const ASKING = 1000 * factor;
/** A minimum: on a busy machine the tasks live longer, so that none expires before the last is created. */
const TTL_MS = 10_000;
/** Half as much again as a task costs, and far below what a leak of its arguments, its call or its history would. */
const MOST_BYTES_PER_TASK = 24_000;

const fixture = fileURLToPath(new URL('../fixtures/load-server.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-load-'));
const run = promisify(execFile);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Report {
  readonly before: { readonly bytes: number };
  readonly during: {
    readonly bytes: number;
    readonly timers: number;
    readonly running: number;
    readonly statuses: readonly string[];
  };
  readonly after: {
    readonly bytes: number;
    readonly running: number;
    readonly ended: number;
  };
  readonly closed: { readonly timers: number };
}

describe.concurrent(`${OPEN} open tasks and ${ASKING} that wait for an answer`, () => {
  test.each([
    ['in-memory', []],
    ['on-disk', [join(folder, 'store')]],
  ])(
    'take little memory and free it when they expire, with an %s store',
    { timeout: 600_000 },
    async (kind, store) => {
      const args = ['--expose-gc', fixture, String(OPEN), String(ASKING), String(TTL_MS), ...store];
      const { stdout } = await run(process.execPath, args);
      const { before, during, after, closed } = JSON.parse(stdout) as Report;
      const grown = during.bytes - before.bytes;
      const left = after.bytes - before.bytes;
      const perTask = Math.round(grown / (OPEN + ASKING));
      console.log(
        `${OPEN + ASKING} tasks in an ${kind} store: ${megabytes(before.bytes)} before, ${megabytes(during.bytes)} with them (${perTask} bytes each), ${megabytes(after.bytes)} after`,
      );
      expect(during.running).toBe(OPEN + ASKING);
      expect(during.statuses).toEqual(['working', 'working', 'input_required', 'input_required']);
      expect(perTask).toBeLessThan(MOST_BYTES_PER_TASK);
      // No task keeps the process alive.
      expect(during.timers).toBe(0);
      expect(after).toMatchObject({ running: 0, ended: OPEN + ASKING + 1 });
      expect(left).toBeLessThan(Math.max(grown / 10, 1_000_000));
      expect(closed.timers).toBe(0);
    },
  );
});

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
