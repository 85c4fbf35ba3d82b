import { settlesWithin } from '../../async/deadline.js';
import { McpError } from '../../protocol/errors.js';
import type { TaskWork } from '../../server/handle/task-host.js';
import type { LiveTask } from './live-task.js';
import { NeverKept } from './saving-errors.js';
import type { Task } from './task.js';

/** A task that so many processes have ended with, without getting any further, is not run again. */
const MOST_ATTEMPTS = 5;
/** From so many on, a task may be the one that ends the process, and runs without others that begin beside it. */
const SUSPECT_ATTEMPTS = 2;

const AT_ONCE = 32;
/** How long a task may take to get further, before the next one begins beside it. */
const PATIENCE_MS = 1000;
const PATIENCE_WITH_SUSPECTS_MS = 5000;

export interface TakeUpParts {
  readonly workOf: (task: Task) => Promise<TaskWork>;
  readonly isClosing: () => boolean;
}

/**
 * Runs what an earlier process left unfinished, a few at a time. Those that a process may have died of come last and one by one,
 * so that the one that ends this process too is the only one to be blamed for it.
 */
export async function takeUp(tasks: readonly LiveTask[], { workOf, isClosing }: TakeUpParts): Promise<void> {
  // Looked at before any of them runs, since that counts.
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
    if (task.attempts >= MOST_ATTEMPTS) return live.fail(tooOften(task));
    try {
      await live.countAttempt();
    } catch (error) {
      // Otherwise it was cancelled, has expired, or is left to the next process.
      if (error instanceof NeverKept) live.failBare(tooLarge(error));
      return;
    }
    await live.start(() => workOf(task));
  }
}

function tooLarge({ message }: NeverKept): McpError {
  return new McpError('internal_error', `The task cannot be taken up, since it cannot be saved. ${message}`);
}

function tooOften({ attempts }: Task): McpError {
  return new McpError(
    'internal_error',
    `The task was begun ${attempts} times, and each time the server's process ended before the task got any further.`,
  );
}
