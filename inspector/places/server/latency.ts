// How long the calls of a connection took, sorted into steps of 1, 2, 5, 10, 20, 50, … milliseconds.

import type { Story } from '../../../src/inspector/contract/story.js';

export interface LatencyStep {
  /** From this time on, in milliseconds. */
  readonly from: number;
  /** Below this time. */
  readonly to: number;
  readonly count: number;
}

export interface Latency {
  readonly count: number;
  readonly median: number;
  readonly p90: number;
  readonly p99: number;
  readonly slowest: number;
  /** Without gaps, from the fastest to the slowest call. */
  readonly steps: readonly LatencyStep[];
}

const CALLS: ReadonlySet<Story['kind']> = new Set(['tool', 'task', 'read', 'prompt', 'complete', 'request']);
const OVER: ReadonlySet<Story['state']> = new Set(['ok', 'tool-error', 'error']);

/** The times of the server in calls that are over. Your time is not part of them. */
export function timesOf(stories: readonly Story[], title?: string): readonly number[] {
  return stories
    .filter(({ kind, state, earlier }) => CALLS.has(kind) && OVER.has(state) && earlier === undefined)
    .filter((story) => title === undefined || story.title === title)
    .map(({ serverMs }) => serverMs);
}

/** Undefined if there are no times. */
export function latencyOf(times: readonly number[]): Latency | undefined {
  const sorted = [...times].sort((one, other) => one - other);
  const fastest = sorted[0];
  const slowest = sorted.at(-1);
  if (fastest === undefined || slowest === undefined) return undefined;
  const steps: LatencyStep[] = [];
  let at = 0;
  for (let from = stepBelow(fastest); from <= slowest; ) {
    const to = nextStep(from);
    const begin = at;
    while (at < sorted.length && (sorted[at] ?? 0) < to) at += 1;
    steps.push({ from, to, count: at - begin });
    from = to;
  }
  return {
    count: sorted.length,
    median: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p99: percentile(sorted, 0.99),
    slowest,
    steps,
  };
}

/** The nearest rank: a time that was measured, not one between two. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function stepBelow(ms: number): number {
  let from = 0;
  while (nextStep(from) <= ms) from = nextStep(from);
  return from;
}

function nextStep(from: number): number {
  if (from < 1) return 1;
  const power = 10 ** Math.floor(Math.log10(from) + 1e-9);
  const first = Math.round(from / power);
  return power * (first === 1 ? 2 : first === 2 ? 5 : 10);
}
