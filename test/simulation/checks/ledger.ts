// Records what happened, as the store saw it and as the world outside saw it, and compares each event with the promises.

import type { Lease, StoreChange, Written } from 'fullmcp';
import type { Actor } from '../world/scheduler.js';
import type { World } from '../world/world.js';
import { Calls } from './calls.js';
import { Changes } from './changes.js';
import type { Invariant, Violate, Violation } from './invariants.js';
import { type JobRecord, Jobs, type StepRun } from './jobs.js';
import { Leases } from './leases.js';
import { ToldEvents } from './told-events.js';

/** A write as the store made it or refused it. */
export interface ObservedWrite {
  readonly changes: readonly StoreChange[];
  readonly guard: Lease | undefined;
  readonly written: Written;
}

/** Everything that is known about a simulation. */
export class Ledger {
  readonly violations: Violation[] = [];
  readonly jobs = new Jobs();
  readonly calls: Calls;
  readonly changes: Changes;
  readonly events: ToldEvents;
  /** The effects of keyed calls, by the caller and the order. */
  readonly payments = new Map<string, string[]>();
  /** The time of the last read of each replica that failed. */
  readonly failedReads = new Map<Actor, number>();
  readonly queues = new Set<string>();
  readonly #world: World;
  readonly #leases: Leases;

  constructor(world: World) {
    this.#world = world;
    this.#leases = new Leases(world.scheduler);
    const violate: Violate = (invariant, detail) => this.violate(invariant, detail);
    this.calls = new Calls(world, violate);
    this.changes = new Changes(world, violate);
    this.events = new ToldEvents(violate);
  }

  violate(invariant: Invariant, detail: string): void {
    this.#world.note(() => `VIOLATION ${invariant}: ${detail}`);
    this.violations.push({ invariant, detail });
  }

  onFailedRead(replica: Actor): void {
    this.failedReads.set(replica, this.#world.scheduler.now);
  }

  onClaim(replica: Actor, leases: readonly Lease[], ms: number): void {
    for (const lease of leases) {
      const holder = this.#leases.holderOf(lease);
      if (holder !== undefined && holder.until > this.#world.scheduler.now)
        this.violate('lease granted twice', `${lease.key} to ${replica.name} and ${holder.replica.name}`);
      this.#leases.grant(lease, replica, ms);
      const job = this.jobs.byWork(lease.key);
      if (job !== undefined && lease.attempt > 1) job.vain++;
    }
  }

  onRenew(leases: readonly Lease[], ms: number): void {
    for (const lease of leases) this.#leases.extend(lease, ms);
  }

  onWrite(replica: Actor, { changes, guard, written }: ObservedWrite): void {
    if (!written.ok) return;
    if (guard !== undefined && !this.#leases.isHeld(guard))
      this.violate('stale write', `${replica.name} wrote to ${guard.key} under the old lease ${guard.token}`);
    for (const change of changes) this.#onChange(replica, change, { changes, guard, written });
  }

  #onChange(replica: Actor, change: StoreChange, { changes, guard, written }: ObservedWrite): void {
    switch (change.do) {
      case 'put':
        if (change.key.startsWith('task:')) this.#onHead(replica, change.key.slice(5), change.value);
        return;
      case 'append':
        if (change.list.startsWith('journal:')) this.#onJournal(change.list.slice(8), change.value);
        return;
      case 'enqueue':
        this.queues.add(change.queue);
        if (change.hold !== undefined && written.ok && written.lease !== undefined)
          this.#leases.grant(written.lease, replica, change.hold.ms);
        return;
      case 'release':
        if (guard === undefined) return;
        this.#leases.end(guard);
        if (changes.some((other) => other.do === 'put' && other.value['waiting'] === true))
          this.#onAside(guard);
        return;
      case 'dequeue':
        this.#leases.end(change);
        return;
      case 'delete':
        this.#onRemoved(change.key);
        return;
      default:
        return;
    }
  }

  #onHead(replica: Actor, work: string, head: Record<string, unknown>): void {
    const { scheduler } = this.#world;
    const status = String(head['status']);
    const job = this.jobs.onHead(work, status);
    if (job.endedAt !== undefined)
      this.violate('ended task changed', `${work} was ${job.status}, and became ${status}`);
    job.status = status;
    if (status === 'working' || status === 'input_required') return;
    job.endedAt = scheduler.now;
    job.endedBy = replica;
    if (status === 'cancelled')
      job.cancelled = { by: this.#leases.holderOf({ key: work })?.replica, starts: 0 };
  }

  // A task that could not be created for sure is removed, wherever it runs by then, as if it were cancelled.
  #onRemoved(key: string): void {
    const job = this.jobs.byWork(key.slice('task:'.length));
    if (job !== undefined && job.endedAt === undefined)
      job.cancelled = { by: this.#leases.holderOf({ key: job.work })?.replica, starts: 0 };
  }

  // A step that runs while its task is put aside cannot be recorded, and runs elsewhere, too. One that began under an earlier lease
  // was cut off then.
  #onAside({ key: work, token }: Lease): void {
    const job = this.jobs.byWork(work);
    for (const [step, runs] of job?.runs ?? [])
      if (runs.at(-1)?.lease === token && !job?.recorded.has(step))
        this.violate('step without a lease', `${job?.name} was put aside during ${step}`);
  }

  #onJournal(work: string, item: Record<string, unknown>): void {
    const job = this.jobs.onJournal(work, item);
    job.vain = 0;
    for (const [key, nonce] of (item['s'] ?? []) as [string, string][]) {
      if (job.recorded.has(key)) this.violate('recorded step ran again', `${job.name} recorded ${key} twice`);
      job.recorded.set(key, nonce);
    }
  }

  /** A step begins: its effect is visible to the world outside. */
  onStep(name: string, step: string, run: StepRun): void {
    const { replica } = run;
    this.#world.note(() => `STEP ${name} ${step} ${run.nonce} with key ${run.key}`);
    const jobs = this.jobs.byName(name);
    const isHeld = ({ work }: JobRecord): boolean =>
      this.#leases.holderOf({ key: work })?.replica === replica;
    const job = jobs.find(isHeld) ?? jobs.at(-1);
    if (job === undefined)
      return this.violate('step without a lease', `${name} ${step}: there is no such task`);
    const runs = job.runs.get(step) ?? [];
    const holder = this.#leases.holderOf({ key: job.work });
    job.runs.set(step, [...runs, { ...run, lease: holder?.token }]);
    if (job.recorded.has(step)) this.violate('recorded step ran again', `${name} ${step} on ${replica.name}`);
    if (runs.some(({ key }) => key !== run.key))
      this.violate('step has another key', `${name} ${step} on ${replica.name}`);
    if (job.cancelled !== undefined) return this.#onStepAfterCancellation(replica, job, step);
    if (holder?.replica !== replica)
      this.violate(
        'step without a lease',
        `${name} ${step} on ${replica.name}; the lease is held by ${holder?.replica.name ?? 'nobody'}`,
      );
  }

  // The process that held the task may begin what needs no further write: it has not heard of the cancellation yet.
  #onStepAfterCancellation(replica: Actor, job: JobRecord, step: string): void {
    const { cancelled } = job;
    if (cancelled === undefined) return;
    cancelled.starts++;
    if (cancelled.by !== replica || cancelled.starts > job.branches)
      this.violate(
        'step after cancellation',
        `${job.name} ${step} on ${replica.name}, start ${cancelled.starts}; the task was held by ${cancelled.by?.name ?? 'nobody'}`,
      );
  }

  /** A payment of a caller takes effect. */
  onPayment(replica: Actor, payment: string, nonce: string): void {
    this.#world.note(() => `PAYMENT ${payment} ${nonce}`);
    const nonces = this.payments.get(payment) ?? [];
    this.payments.set(payment, [...nonces, nonce]);
    if (nonces.length > 0) this.violate('keyed call took effect twice', `${payment} on ${replica.name}`);
  }
}
