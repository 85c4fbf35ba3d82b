// Requests for tasks that the store does not have.

import { BoundedMap } from '../../async/bounded-map.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { Logger } from '../../server/state/log.js';
import { SHARING_ADVICE } from '../../state/cluster.js';
import { isTaskId } from './stored/task.js';

/** The parts of an `UnknownTasks`. */
export interface UnknownTasksParts {
  /** Whether other processes share the tasks. */
  readonly isShared: () => boolean;
  readonly log: Logger;
}

// Enough for a client that asks for a task soon after it has expired.
const MAX_IDS = 1000;

/**
 * Makes the error for a task that the store does not have. The operator is warned once if the task may be in another process: its
 * id is well-formed, and this process did not create it.
 */
export class UnknownTasks {
  readonly #parts: UnknownTasksParts;
  /** The tasks that this process has created last. */
  readonly #created = new BoundedMap<string, true>(MAX_IDS);
  #hasWarned = false;

  constructor(parts: UnknownTasksParts) {
    this.#parts = parts;
  }

  /** Remembers that this process has created a task, which may expire or belong to another caller than the one that asks. */
  noteCreated(id: string): void {
    if (this.#hasWarned || this.#parts.isShared()) return;
    this.#created.set(id, true);
  }

  /** The error for the client. */
  error(id: string): McpError {
    if (!this.#hasWarned && isTaskId(id) && !this.#created.has(id) && !this.#parts.isShared()) this.#warn();
    return new McpError('invalid_params', `Unknown task: ${shorten(id, 64)}`);
  }

  #warn(): void {
    this.#hasWarned = true;
    this.#created.clear();
    this.#parts.log(
      'warning',
      `A client asked for a task that this process does not know and has not created lately: it has expired, was lost when a server without the option "store" restarted, or is in another process. ${SHARING_ADVICE}`,
    );
  }
}
