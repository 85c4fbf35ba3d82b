// The parts that everything in a simulation shares.

import { createHash } from 'node:crypto';
import type { Ledger } from '../checks/ledger.js';
import { Random } from './random.js';
import { newActor, Scheduler } from './scheduler.js';
import { chooseSettings, type Settings } from './settings.js';

/** The lines of a simulation, in order. Nothing is kept unless somebody is going to read it. */
export class Trace {
  readonly isOn: boolean;
  readonly lines: string[] = [];

  constructor(isOn: boolean) {
    this.isOn = isOn;
  }

  /** A digest of everything that happened. */
  get digest(): string {
    return createHash('sha256').update(this.lines.join('\n')).digest('hex');
  }
}

/** One simulated world: its time, its chances, and what is known about it. */
export class World {
  readonly random: Random;
  readonly settings: Settings;
  readonly scheduler: Scheduler;
  readonly trace: Trace;
  /** The actor of everything that is nobody's: faults, and the end of phases. */
  readonly fate = newActor('fate');
  /** Whether things may still be lost, cut off or killed. */
  isFaulty = true;
  /** The end of the last trouble so far: something was lost, cut off, paused or killed. */
  troubledUntil = Number.NEGATIVE_INFINITY;

  constructor(seed: number, trace: Trace) {
    this.random = new Random(seed);
    this.settings = chooseSettings(this.random.fork());
    this.scheduler = new Scheduler(this.random.fork());
    this.trace = trace;
    if (trace.isOn) trace.lines.push(`seed ${seed} ${JSON.stringify(this.settings)}`);
  }

  /** Whether something with this probability goes wrong. */
  fails(probability: number): boolean {
    if (!this.isFaulty || probability === 0 || !this.random.chance(probability)) return false;
    this.trouble(0);
    return true;
  }

  /** Notes that there is trouble for `ms`. */
  trouble(ms: number): void {
    this.troubledUntil = Math.max(this.troubledUntil, this.scheduler.now + ms);
  }

  /** Writes a line of the trace. */
  note(text: () => string): void {
    if (!this.trace.isOn) return;
    const { now, current } = this.scheduler;
    this.trace.lines.push(`${now.toFixed(2).padStart(12)} ${current.name.padEnd(10)} ${text()}`);
  }

  /** Resolves after `ms`, for the actor whose event takes place. */
  sleep(ms: number): Promise<void> {
    const { current } = this.scheduler;
    return new Promise((resolve) => {
      this.scheduler.after(ms, current, resolve, true);
    });
  }

  /** Runs all events of the next `ms`. */
  async runFor(ms: number): Promise<void> {
    this.scheduler.after(ms, this.fate, () => this.scheduler.stop());
    await this.scheduler.run();
  }
}

/** A world with everything that is recorded about it. */
export interface Recorded {
  readonly world: World;
  readonly ledger: Ledger;
}
