import { readFileSync } from 'node:fs';
import type { LoadResults } from './load.js';

interface StepRun {
  readonly job?: string;
  readonly step?: number;
  readonly payment?: string;
  readonly nonce: string;
  readonly key?: string;
}

/** The violations of the promises that a server on many processes makes. */
export interface Violations {
  readonly lost: readonly string[];
  /** Effects that happened again although they were recorded. */
  readonly doubled: readonly string[];
  /** Answers to the wrong question or caller. */
  readonly mixed: readonly string[];
  /** Steps that ran again with another idempotency key. */
  readonly rekeyed: readonly string[];
  /** The steps that were cut off and ran again, as they must. */
  readonly repeated: number;
}

/** Compares the ledger of all effects with the results that clients got. */
export function verify(ledger: string, { jobs, payments, figures }: LoadResults): Violations {
  const doubled: string[] = [];
  const rekeyed: string[] = [];
  let repeated = 0;
  const runs = new Map<string, StepRun[]>();
  for (const line of readFileSync(ledger, 'utf8').split('\n').filter(Boolean)) {
    const run = JSON.parse(line) as StepRun;
    const place = run.payment === undefined ? `${run.job} step ${run.step}` : `payment ${run.payment}`;
    runs.set(place, [...(runs.get(place) ?? []), run]);
  }
  for (const [place, [first, ...others]] of runs) {
    repeated += others.length;
    if (others.some(({ key }) => key !== first?.key)) rekeyed.push(place);
  }
  // A step may run again only if its result was not recorded. So the run that was recorded is the last one.
  for (const [job, nonces] of jobs)
    for (const [at, nonce] of nonces.entries()) {
      const last = runs.get(`${job} step ${at + 1}`)?.at(-1);
      if (last?.nonce !== nonce) doubled.push(`${job} step ${at + 1}`);
    }
  // A payment runs once for each key, whatever the client repeats.
  for (const [payment, nonce] of payments) {
    const [first, ...others] = runs.get(`payment ${payment}`) ?? [];
    if (first?.nonce !== nonce || others.length > 0) doubled.push(`payment ${payment}`);
  }
  for (const [place, all] of runs) if (place.startsWith('payment') && all.length > 1) doubled.push(place);
  return { lost: figures.lost, doubled: [...new Set(doubled)], mixed: figures.mixed, rekeyed, repeated };
}
