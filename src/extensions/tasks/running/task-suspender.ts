// Decides what happens between the steps and at the questions of a task.

import { McpError } from '../../../protocol/errors.js';
import type { Suspender } from '../../../server/asking/suspender.js';
import type { LeaseKeeper } from '../../../state/lease-keeper.js';
import type { Lease } from '../../../state/store.js';
import type { SavedTask } from './saved-task.js';
import type { TaskQuestions } from './task-questions.js';
import type { TaskTransactions } from './task-transactions.js';

/** The task that is being run. */
export interface SuspendedTask {
  readonly saved: SavedTask;
  readonly questions: TaskQuestions;
  readonly transactions: TaskTransactions;
  readonly leases: LeaseKeeper;
  readonly lease: Lease;
  /** Ends the run, because another process may have the task. */
  readonly lose: () => void;
  /** Called when the task makes progress, or waits for an answer. */
  readonly onProgress: () => void;
}

/** Makes the suspender of a task: a step starts only under a lease, and its result is saved before the handler continues. */
export function taskSuspender(task: () => SuspendedTask): Suspender {
  return {
    onIdle() {
      const { questions, onProgress } = task();
      onProgress();
      void questions.ask();
    },
    beforeStep() {
      const { saved, questions, leases, lease } = task();
      questions.wake();
      // A process that was paused must not begin a step that another process may have begun.
      return !saved.isReleasing && leases.isValid(lease) ? undefined : confirmHeld(task());
    },
    transaction: (key) => task().transactions.make(key),
    async onStep() {
      const { saved, onProgress } = task();
      try {
        await saved.save();
      } catch (error) {
        const reason = error instanceof Error ? error.message : '';
        throw new McpError('internal_error', `The result of a step cannot be saved. ${reason}`);
      }
      onProgress();
    },
  };
}

/** Waits until it is known whether the task is held. If it is not, the run is over, and the step does not start. */
async function confirmHeld({ saved, leases, lease, lose }: SuspendedTask): Promise<void> {
  // The task may have been answered, and taken up elsewhere, while it was being put aside.
  await saved.idle();
  if (saved.isReleasing || !(await leases.confirm(lease))) lose();
}
