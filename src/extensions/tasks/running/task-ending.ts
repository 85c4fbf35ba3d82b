// The end of a task that runs in this process.

import { McpError, toMcpError } from '../../../protocol/errors.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import type { Logger } from '../../../server/state/log.js';
import type { Ending } from '../stored/task.js';
import type { SavedTask } from './saved-task.js';

/** The task that ends. */
export interface EndingTask {
  readonly saved: SavedTask;
  readonly tool: string;
  readonly log: Logger;
}

/** The end of a task whose handler threw an error. An error that the client must not see is logged instead. */
export function failedWith(error: unknown, { saved, tool, log }: EndingTask): Ending {
  const reported = toMcpError(error);
  if (reported !== error) log('error', `Task ${saved.place.id} (${tool}) failed`, error);
  return { status: 'failed', error: reported.toWire(newestRevision) };
}

/** Saves the end of a task. If its result can never be saved, the task fails. Returns whether the end was saved. */
export async function saveEnding(ending: Ending, { saved, tool, log }: EndingTask): Promise<boolean> {
  try {
    return (await saved.end(ending)) === 'made';
  } catch (reason) {
    log('error', `The result of task ${saved.place.id} (${tool}) cannot be saved`, reason);
    const why = reason instanceof Error ? reason.message : '';
    const error = new McpError('internal_error', `The result cannot be saved. ${why}`);
    const failed: Ending = { status: 'failed', error: error.toWire(newestRevision) };
    const end = await saved.end(failed, Number.POSITIVE_INFINITY).catch(() => undefined);
    return end === 'made';
  }
}
