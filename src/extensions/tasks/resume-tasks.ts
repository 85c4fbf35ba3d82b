// Runs the unfinished tasks of an earlier process again.

import { settlesWithin } from '../../async/deadline.js';
import { McpError } from '../../protocol/errors.js';
import type { TaskWork } from '../../server/handle/task-host.js';
import type { LiveTask } from './live-task.js';
import { Unsaveable } from './saving-errors.js';
import type { Task } from './task.js';

/** A task is not run again after this many processes ended while it ran without progress. */
const MAX_ATTEMPTS = 5;
/** From this many attempts on, a task may be the one that ends the process, so no other task is started beside it. */
const SUSPECT_ATTEMPTS = 2;

const AT_ONCE = 32;
/** The time for a task to make progress before the next one is started. */
const PATIENCE_MS = 1000;
const PATIENCE_WITH_SUSPECTS_MS = 5000;

export interface ResumeTasksParts {
  readonly workOf: (task: Task) => Promise<TaskWork>;
  readonly isClosing: () => boolean;
}

/**
 * Runs unfinished tasks of an earlier process, a few at a time. Tasks that may have ended that process come last and one by one,
 * so that a crash of this process is attributed to the right one.
 */
export async function resumeTasks(
  tasks: readonly LiveTask[],
  { workOf, isClosing }: ResumeTasksParts,
): Promise<void> {
  // Divided before any of them runs, because running one changes its count.
  const suspects = tasks.filter(({ task }) => task.attempts >= SUSPECT_ATTEMPTS);
  const others = tasks.filter(({ task }) => task.attempts < SUSPECT_ATTEMPTS);
  await inLanes(others, { lanes: AT_ONCE, patienceMs: PATIENCE_MS });
  await inLanes(suspects, { lanes: 1, patienceMs: PATIENCE_WITH_SUSPECTS_MS });

  async function inLanes(
    waiting: readonly LiveTask[],
    { lanes, patienceMs }: { readonly lanes: number; readonly patienceMs: number },
  ): Promise<void> {
    const queue = waiting.values();
    const lane = async (): Promise<void> => {
      for (const live of queue) {
        if (isClosing()) return;
        await settlesWithin(run(live), patienceMs, { unref: true });
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  async function run(live: LiveTask): Promise<void> {
    const { task } = live;
    if (task.attempts >= MAX_ATTEMPTS) return live.fail(tooOften(task));
    try {
      await live.countAttempt();
    } catch (error) {
      // Otherwise the task was cancelled, has expired, or is left to the next process.
      if (error instanceof Unsaveable) live.failBare(tooLarge(error));
      return;
    }
    await live.start(() => workOf(task));
  }
}

function tooLarge({ message }: Unsaveable): McpError {
  return new McpError('internal_error', `The task cannot be resumed, because it cannot be saved. ${message}`);
}

function tooOften({ attempts }: Task): McpError {
  return new McpError(
    'internal_error',
    `The task was started ${attempts} times, and each time the server's process ended before the task made progress.`,
  );
}
