// The records of all jobs and their tasks.

import type { Actor } from '../world/scheduler.js';

/** One run of a step. */
export interface StepRun {
  readonly replica: Actor;
  readonly nonce: string;
  readonly key: string;
  /** The lease under which it began; undefined for a step that is not of a task. */
  readonly lease?: number | undefined;
}

/** A job: a task with a name that the client chose. */
export interface JobRecord {
  /** The name that the client gave it; empty as long as its journal is not known. */
  name: string;
  /** The key of its task in the queue. */
  readonly work: string;
  status: string;
  /** The results of the steps that are in the journal. */
  readonly recorded: Map<string, string>;
  readonly runs: Map<string, readonly StepRun[]>;
  endedAt: number | undefined;
  endedBy: Actor | undefined;
  /** The holder at the cancellation, and the steps that began since. */
  cancelled: { readonly by: Actor | undefined; starts: number } | undefined;
  /** How often the task was claimed from a process that did not give it back, since its journal grew. */
  vain: number;
  /** The number of steps that may run at the same time. */
  branches: number;
}

/** All jobs, by the names of clients and by the keys of the store. */
export class Jobs {
  readonly #byWork = new Map<string, JobRecord>();
  readonly #byName = new Map<string, JobRecord[]>();

  [Symbol.iterator](): IterableIterator<JobRecord> {
    return this.#byWork.values();
  }

  byWork(work: string): JobRecord | undefined {
    return this.#byWork.get(work);
  }

  /** The tasks of a job: one, unless it was created again because nobody knew of the first. */
  byName(name: string): readonly JobRecord[] {
    return this.#byName.get(name) ?? [];
  }

  byTask(taskId: string): JobRecord | undefined {
    for (const job of this) if (job.work.endsWith(`:${taskId}`)) return job;
    return undefined;
  }

  /** The job whose head is written. */
  onHead(work: string, status: string): JobRecord {
    const job = this.#byWork.get(work) ?? newJob(work, status);
    this.#byWork.set(work, job);
    return job;
  }

  /** The job whose journal grows. The first item has its call. */
  onJournal(work: string, item: Record<string, unknown>): JobRecord {
    const job = this.onHead(work, 'working');
    const call = item['call'] as { args: { id: string; branches?: number } } | undefined;
    if (call === undefined) return job;
    const { id, branches = 1 } = call.args;
    job.name = id;
    job.branches = branches;
    this.#byName.set(id, [...this.byName(id), job]);
    return job;
  }
}

function newJob(work: string, status: string): JobRecord {
  return {
    ...{ name: '', work, status, recorded: new Map(), runs: new Map() },
    ...{
      endedAt: undefined,
      endedBy: undefined,
      cancelled: undefined,
      vain: 0,
      branches: 1,
    },
  };
}
