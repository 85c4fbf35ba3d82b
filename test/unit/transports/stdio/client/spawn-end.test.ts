import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnWire } from '../../../../../src/transports/stdio/client/spawn.js';
import { isAlive } from '../../../../support/processes.js';
import { soon, until } from '../../../../support/until.js';
import { oddServer, recordWire } from '../../../../support/wires/recorded-wire.js';

const quick = { exitMs: 100, termMs: 100 };

function start(what: string[], options = quick) {
  const wire = spawnWire({ command: process.execPath, args: [oddServer, ...what] }, options);
  return { wire, ...recordWire(wire) };
}

/** Closes, and returns how long that took. */
async function measure(close: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await close();
  return performance.now() - from;
}

describe('closing a wire to a process', () => {
  test('ends a server that exits at the end of its input, at once and without a signal', async () => {
    const { wire, next, closed } = start(['echo'], { exitMs: 600_000, termMs: 600_000 });
    wire.send('{"a":1}');
    await next();
    await soon('The end of the server', wire.close());
    expect(closed).toEqual([]);
  });

  test('sends the last messages first', async () => {
    const lines: string[] = [];
    const wire = spawnWire({
      command: process.execPath,
      args: [oddServer, 'tell its input'],
      stderr: (line) => lines.push(line),
    });
    recordWire(wire);
    wire.send('{"a":1}');
    wire.send('{"b":2}');
    await wire.close();
    expect(lines).toEqual(['{"a":1}', '{"b":2}']);
  });

  test('ends a server that ignores the end of its input', async () => {
    const { wire, next, closed } = start(['ignore the end']);
    const { ready } = await next();
    expect(isAlive(ready as number)).toBe(true);
    await wire.close();
    expect(isAlive(ready as number)).toBe(false);
    expect(closed).toEqual([]);
  });

  test('ends a server that ignores SIGTERM too', async () => {
    const { wire, next } = start(['ignore SIGTERM']);
    const { ready } = await next();
    const [took] = await Promise.all([measure(wire.close), wire.close()]);
    expect(took).toBeGreaterThan(190);
    expect(isAlive(ready as number)).toBe(false);
  });

  test('ends the children of the server, which hold its pipes and ignore SIGTERM', async () => {
    const { wire, next } = start(['leave a child behind']);
    const { ready } = await next();
    expect(isAlive(ready as number)).toBe(true);
    await soon('The end of the server', wire.close());
    expect(isAlive(ready as number)).toBe(false);
  });

  test('leaves no listener, no timer and no pipe', async () => {
    const before = { exit: process.listenerCount('exit'), resources: resources() };
    const running = Array.from({ length: 12 }, () => start(['echo']));
    for (const { wire } of running) wire.send('{}');
    await Promise.all(running.map(({ next }) => next()));
    expect(process.listenerCount('exit')).toBe(before.exit + 1);
    await Promise.all(running.map(({ wire }) => wire.close()));
    expect(process.listenerCount('exit')).toBe(before.exit);
    await until('nothing is left', () => resources() <= before.resources);
  });
});

// The timer of `until` does not count.
function resources(): number {
  const ours = ['PipeWrap', 'ProcessWrap', 'Timeout'];
  return process.getActiveResourcesInfo().filter((name) => ours.includes(name)).length;
}

test('a server that exits leaves none of its children running', async () => {
  const { next, end, wire } = start(['leave a child behind', 'exit']);
  const { ready } = await next();
  // The pipes are still open, but the end is reported.
  expect((await end()).message).toContain('exit code 5');
  await until('the grandchild is gone', () => !isAlive(ready as number));
  await wire.close();
});

describe('the end of this process without closing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-exit-'));
  const module = join(folder, 'spawn.mjs');
  const client = fileURLToPath(new URL('../fixtures/exiting-client.mjs', import.meta.url));

  beforeAll(async () => {
    const input = fileURLToPath(
      new URL('../../../../../src/transports/stdio/client/spawn.ts', import.meta.url),
    );
    const bundle = await rolldown({ input, platform: 'node' });
    await bundle.write({ file: module });
    await bundle.close();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each([
    ['by exit', 'leave a child behind', 'exit'],
    ['by an error', 'leave a child behind', 'throw'],
    // Then nothing can stop the server, but it sees the end of its input.
    ['by SIGKILL', 'say its pid', 'SIGKILL'],
    ['by SIGINT', 'say its pid', 'SIGINT'],
  ])('ends the whole process tree: %s', async (_, what, how) => {
    const child = spawn(process.execPath, [client, module, oddServer, what, how], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { ready } = JSON.parse(line.toString()) as { ready: number };
    await until('the whole tree is gone', () => !isAlive(ready));
  });
});
