// The figures as tables for docs/capacity.md.
import { NONE } from './calls.js';

/** @param {Record<string, Record<string, number>>} figures */
export function throughputTable(figures) {
  const kinds = ['tasks', 'steps', 'questions'];
  const head = kinds.flatMap((kind) => [
    `${kind}/s, 1 replica`,
    '3 replicas',
    'CPU ms each: replica + engine',
  ]);
  const rows = Object.entries(figures).map(([name, of]) => [
    name,
    ...kinds.flatMap((kind) => [
      count(of[`${kind} x1`]),
      count(of[`${kind} x3`]),
      `${short(of[`${kind} x1 replica CPU`])} + ${short(of[`${kind} x1 engine CPU`])}`,
    ]),
  ]);
  return table(['store', ...head], rows);
}

/** @param {any} calls */
export function callTable(calls) {
  const rows = Object.keys(calls.medians)
    .filter((name) => name !== NONE)
    .map((name) => [
      name,
      `${short(calls.ratio('modern', name, NONE))} ×`,
      `${short(calls.ratio('session', name, NONE))} ×`,
    ]);
  const { modern, session } = calls.medians[NONE];
  return `${table(['cluster', 'call of 2026-07-28, CPU over none', 'call in a session, CPU over none'], rows)}\n\nWithout a cluster: ${Math.round(modern)} µs of CPU for a call, ${Math.round(session)} µs in a session.`;
}

/** @param {Record<string, { aside: number, live: number }>} waiting @param {number} number */
export function waitingTable(waiting, number) {
  const rows = Object.entries(waiting).map(([name, { aside, live }]) => [
    name,
    `${Math.round(aside)} bytes`,
    `${Math.round(live)} bytes`,
    `${((100 * Math.max(0, aside)) / live).toFixed(1)} %`,
  ]);
  return table([`heap of each of ${number} waiting tasks`, 'put aside', 'handler in memory', 'ratio'], rows);
}

/** @param {{ heap: number, rss: number, files: number, changeMicroseconds: number }} streams */
export function streamTable({ heap, rss, files, changeMicroseconds }) {
  return table(
    ['an idle stream', 'figure'],
    [
      ['heap', `${(heap / 1000).toFixed(1)} kB`],
      ['memory of the process', `${(rss / 1000).toFixed(1)} kB`],
      ['file descriptors', files.toFixed(2)],
      ['CPU time of a change, for each stream', `${Math.round(changeMicroseconds)} µs`],
    ],
  );
}

/** A table of Markdown. @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
export function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** @param {number | undefined} value */
function count(value) {
  return value === undefined ? '–' : String(Math.round(value));
}

/** @param {number | undefined} value */
function short(value) {
  return value === undefined ? '–' : value.toFixed(2);
}
