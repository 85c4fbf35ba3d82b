// The engines that a run measures, in turn.
import { median } from '../numbers.js';
import { engines } from './start.js';

/** @typedef {Record<string, import('./start.js').Engine>} Running */

/**
 * Starts the engines that are installed.
 * @param {readonly string[] | undefined} only
 * @returns {Promise<Running>}
 */
export async function startAll(only) {
  /** @type {Running} */
  const running = {};
  for (const [name, start] of Object.entries(engines)) {
    if (only !== undefined && !only.includes(name)) continue;
    const engine = await start();
    if (engine === undefined) console.log(`SKIPPED: ${name} is not installed on this machine.`);
    else running[name] = engine;
  }
  return running;
}

/**
 * All engines in turn, pass after pass, each pass starting with another one. The median of the passes counts.
 * @param {Running} running
 * @param {number} passes
 * @param {(engine: import('./start.js').Engine) => Promise<Record<string, number>>} measure
 */
export async function measurePasses(running, passes, measure) {
  /** @type {Record<string, Record<string, number[]>>} */
  const samples = {};
  const names = Object.keys(running);
  for (let pass = 0; pass < passes; pass++) {
    for (const name of [...names.slice(pass % names.length), ...names.slice(0, pass % names.length)]) {
      const figures = await timed(name, () => measure(running[name]));
      samples[name] ??= {};
      for (const [figure, value] of Object.entries(figures)) {
        samples[name][figure] ??= [];
        samples[name][figure].push(value);
      }
    }
  }
  return Object.fromEntries(
    names.map((name) => [
      name,
      Object.fromEntries(Object.entries(samples[name] ?? {}).map(([figure, all]) => [figure, median(all)])),
    ]),
  );
}

/**
 * Prints how long a part of a run took.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 */
export async function timed(name, work) {
  const from = performance.now();
  const result = await work();
  console.log(`${name.padEnd(20)} ${((performance.now() - from) / 1000).toFixed(1)} s`);
  return result;
}
