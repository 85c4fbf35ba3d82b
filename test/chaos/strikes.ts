import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.js';
import type { Ledger } from './ledger.js';
import type { Load } from './load/load.js';
import type { Replicas } from './replicas.js';

/** The number of strikes of each signal. */
export interface StrikeCounts {
  readonly kills: number;
  readonly terminations: number;
  readonly pauses: number;
}

interface StrikeParts {
  readonly replicas: Replicas;
  readonly load: Load;
  readonly ledger: Ledger;
  readonly random: () => number;
  /** The time after which no further strike begins. */
  readonly limitMs: number;
}

/** Longer than the lease of a replica, which is 2 s. */
const PAUSE_MS = 3000;
const BETWEEN_MS = 400;
/** A server gives up a task after 5 attempts without progress. */
const MOST_WITHOUT_PROGRESS = 4;
const PATIENCE_MS = 240_000;

/** Kills, ends and pauses random replicas, in a random order. Returns how often each signal was sent. */
export async function strikeAll(
  counts: StrikeCounts,
  parts: StrikeParts,
): Promise<Record<'SIGKILL' | 'SIGTERM' | 'SIGSTOP', number>> {
  const { replicas, ledger, random, limitMs } = parts;
  const endsAt = performance.now() + limitMs;
  const sent = { SIGKILL: 0, SIGTERM: 0, SIGSTOP: 0 };
  const { kills, terminations, pauses } = counts;
  const patience = new Patience(parts);
  const strikes = shuffle(
    [
      ...Array<'SIGKILL'>(kills).fill('SIGKILL'),
      ...Array<'SIGTERM'>(terminations).fill('SIGTERM'),
      ...Array<'SIGSTOP'>(pauses).fill('SIGSTOP'),
    ],
    random,
  );
  const paused: Promise<void>[] = [];
  for (const signal of strikes) {
    await delay(BETWEEN_MS * (0.5 + random()));
    await patience.beforeStrike();
    // At least one replica is left, so that the load continues.
    await until('two replicas run', () => replicas.ports().length >= 2, PATIENCE_MS);
    if (performance.now() > endsAt) break;
    const child = replicas.choose(random);
    const pid = Number(child.pid);
    ledger.append({ kind: 'struck', pid, signal });
    child.kill(signal);
    sent[signal]++;
    if (signal !== 'SIGSTOP') continue;
    const resume = async (): Promise<void> => {
      await delay(PAUSE_MS);
      ledger.append({ kind: 'resumed', pid });
      child.kill('SIGCONT');
    };
    paused.push(resume());
  }
  await Promise.all(paused);
  return sent;
}

/**
 * Lets a task make progress that was struck so often in a row that the server would give it up. The server counts the attempts
 * since the last step that was saved, which is the one before the last step that has begun, or the one before that.
 */
class Patience {
  readonly #parts: StrikeParts;
  /** For each open job, the last step that has begun, and the strikes since then and since the step before. */
  readonly #jobs = new Map<string, { step: number; strikes: number; before: number }>();
  #read = 0;

  constructor(parts: StrikeParts) {
    this.#parts = parts;
  }

  async beforeStrike(): Promise<void> {
    const isFree = (): boolean => {
      this.#update();
      return [...this.#jobs.values()].every((job) => job.before + job.strikes < MOST_WITHOUT_PROGRESS);
    };
    await until('all tasks make progress', isFree, PATIENCE_MS);
    for (const job of this.#jobs.values()) job.strikes++;
  }

  #update(): void {
    const { load, ledger } = this.#parts;
    const open = load.openJobs();
    for (const job of [...this.#jobs.keys()]) if (!open.has(job)) this.#jobs.delete(job);
    for (const job of open) if (!this.#jobs.has(job)) this.#jobs.set(job, { step: 0, strikes: 0, before: 0 });
    const effects = ledger.read();
    for (; this.#read < effects.length; this.#read++) {
      const effect = effects[this.#read];
      const job = effect?.kind === 'step' ? this.#jobs.get(effect.job) : undefined;
      if (effect?.kind !== 'step' || job === undefined || effect.step <= job.step) continue;
      Object.assign(job, { step: effect.step, before: job.strikes, strikes: 0 });
    }
  }
}

function shuffle<T>(items: T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
