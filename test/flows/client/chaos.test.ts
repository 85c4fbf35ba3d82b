import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { wires } from '../../../src/testing.js';
import { echoServer, type Survival, surviveFaults, type Wire } from '../../support/chaos.js';
import { leaveNothingBehind } from '../../support/leaks.js';

// A thousand networks that fail, each in its own way. CHAOS_SEED repeats one of them; CHAOS_RUNS sets their number on each wire.

const FIRST_SEED = 20_260_728;
const RUNS = Number(process.env['CHAOS_RUNS'] ?? 150);
const AT_ONCE = 50;
const onlySeed = process.env['CHAOS_SEED'];

const wireNames = [
  'http 2026-07-28',
  'http 2025-11-25',
  'http+sse 2024-11-05',
  'stdio 2026-07-28',
  'stdio 2025-11-25',
  'websocket 2026-07-28',
  'websocket 2025-06-18',
];

const seeds =
  onlySeed === undefined ? Array.from({ length: RUNS }, (_, at) => FIRST_SEED + at) : [Number(onlySeed)];

leaveNothingBehind({ everyTimer: false });

const unhandled: unknown[] = [];
const keep = (reason: unknown): unknown => unhandled.push(reason);
beforeEach(() => void process.on('unhandledRejection', keep));
afterEach(() => {
  process.off('unhandledRejection', keep);
  expect(unhandled.splice(0)).toEqual([]);
});

describe.each(wires.filter(({ name }) => wireNames.includes(name)))('a client over $name', (wire) => {
  test(`survives ${seeds.length} schedules of faults`, { timeout: 60_000 + 100 * RUNS }, async () => {
    const survivals = await surviveAll(wire);
    const sum = (of: (one: Survival) => number): number => survivals.reduce((all, one) => all + of(one), 0);
    if (onlySeed !== undefined) return;
    // With fewer faults, errors or results the test would prove nothing.
    expect(sum(({ faults }) => faults)).toBeGreaterThan(4 * RUNS);
    expect(sum(({ errors }) => errors)).toBeGreaterThan(RUNS);
    expect(sum(({ results }) => results)).toBeGreaterThan(RUNS);
    const closed = sum((one) => (one.closed ? 1 : 0));
    expect(closed).toBeLessThan(RUNS / 2);
    // Over HTTP there is no connection to give up.
    if (wire.over !== 'http' && RUNS >= 150) expect(closed).toBeGreaterThan(0);
  });
});

test('the chaos tests cover a thousand schedules of faults', () => {
  expect(wires.filter(({ name }) => wireNames.includes(name))).toHaveLength(wireNames.length);
  expect(wireNames.length * 150).toBeGreaterThanOrEqual(1000);
});

async function surviveAll(wire: Wire): Promise<Survival[]> {
  const server = echoServer();
  const left = [...seeds];
  const survivals: Survival[] = [];
  const failures: unknown[] = [];
  async function work(): Promise<void> {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      try {
        survivals.push(await surviveFaults({ server, wire, seed }));
      } catch (error) {
        failures.push(error);
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await server.close();
  if (failures.length > 0) {
    const messages = failures.slice(0, 3).map((error) => (error as Error).message);
    throw new Error(`${failures.length} of ${seeds.length} failed. ${messages.join('\n\n')}`, {
      cause: failures[0],
    });
  }
  return survivals;
}
