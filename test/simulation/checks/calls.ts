// The records of calls that ask, and of the sessions that make them.

import type { World } from '../world/world.js';
import type { Violate } from './invariants.js';
import type { StepRun } from './jobs.js';

interface CallRecord {
  /** How often each part of the call was sent. A part ends with questions, or with the result. */
  readonly sent: Map<number, number>;
  readonly runs: Map<string, readonly StepRun[]>;
}

/** Something that only its owner may use. */
export type Secret =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'question'; readonly id: string }
  | { readonly kind: 'task'; readonly taskId: string }
  | { readonly kind: 'state'; readonly params: Record<string, unknown> };

/** The calls that ask, by the names that their clients chose. */
export class Calls {
  /** The secrets that an intruder has got hold of. */
  readonly secrets: Secret[] = [];
  readonly #world: World;
  readonly #violate: Violate;
  readonly #records = new Map<string, CallRecord>();
  #lastFailedLog = Number.NEGATIVE_INFINITY;

  constructor(world: World, violate: Violate) {
    this.#world = world;
    this.#violate = violate;
  }

  /** A client sends a part of a call. */
  onSent(name: string, part: number): void {
    const { sent } = this.#recordOf(name);
    sent.set(part, (sent.get(part) ?? 0) + 1);
  }

  /** A step of a call begins: its effect is visible to the world outside. */
  onStep(name: string, part: number, run: StepRun): void {
    this.#world.note(() => `STEP ${name} ${part} ${run.nonce} with key ${run.key}`);
    const { sent, runs } = this.#recordOf(name);
    const before = runs.get(String(part)) ?? [];
    runs.set(String(part), [...before, run]);
    if (before.length >= (sent.get(part) ?? 0))
      this.#violate('step of a call ran again', `${name} ${part} on ${run.replica.name}`);
    // The first part may begin twice, as two different calls.
    if (part > 1 && before.some(({ key }) => key !== run.key))
      this.#violate('step has another key', `${name} ${part} on ${run.replica.name}`);
  }

  /** Whether a step of a call has returned this value. */
  hasRun(name: string, part: number, nonce: string): boolean {
    return (
      this.#recordOf(name)
        .runs.get(String(part))
        ?.some((run) => run.nonce === nonce) === true
    );
  }

  /** Whether a process that ran a part of the call has ended or was deposed, perhaps before it could store all messages. */
  hasLostProcess(name: string): boolean {
    const runs = [...this.#recordOf(name).runs.values()].flat();
    return runs.some(({ replica }) => replica.state === 'dead' || replica.mayBeDeposed);
  }

  onFailedLog(): void {
    this.#lastFailedLog = this.#world.scheduler.now;
  }

  /** Whether the event log failed in some process since then. */
  hasLogFailedSince(time: number): boolean {
    return this.#lastFailedLog >= time;
  }

  /** Whether a call that began then may fail: something else has failed since, or not long before. */
  mayFail(startedAt: number): boolean {
    return this.#world.troubledUntil + TROUBLE_MS >= startedAt;
  }

  #recordOf(name: string): CallRecord {
    const record = this.#records.get(name) ?? { sent: new Map(), runs: new Map() };
    this.#records.set(name, record);
    return record;
  }
}

/** The time for which trouble has consequences. */
const TROUBLE_MS = 30_000;
