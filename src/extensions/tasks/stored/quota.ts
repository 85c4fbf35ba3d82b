// Counts the tasks and bytes of each caller in the store, and all tasks of the server.

import { McpError } from '../../../protocol/errors.js';
import type { Count, Store } from '../../../state/store.js';
import { isCounted, type TaskPlace } from './keys.js';

/** The limits of a server's tasks. */
export interface QuotaLimits {
  readonly maxTasks: number;
  readonly maxTasksPerCaller: number;
  readonly maxBytesPerCaller: number;
}

// The size of the queue is read at most this often.
const SIZE_EVERY_MS = 1000;

/**
 * The limits of a server's tasks, which hold over all its processes. The counts of a caller are changed together with the
 * caller's tasks, so that no crash can part them. Anonymous callers cannot be distinguished, and are not counted.
 */
export class Quota {
  readonly #store: Store;
  readonly #queue: string;
  readonly #limits: QuotaLimits;
  #size = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store, queue: string, limits: QuotaLimits) {
    this.#store = store;
    this.#queue = queue;
    this.#limits = limits;
  }

  /** The changes for a new task that takes this many bytes. */
  added(place: TaskPlace, bytes: number): Count[] {
    const { maxTasksPerCaller, maxBytesPerCaller } = this.#limits;
    return counts(place, [1, maxTasksPerCaller], [bytes, maxBytesPerCaller]);
  }

  /** The error for a new task whose counts were refused; undefined if they were not the reason. */
  async refusal({ group }: TaskPlace, refused: Count | undefined): Promise<McpError | undefined> {
    if (refused?.do !== 'count') return undefined;
    const { count = 0 } = ((await this.#store.get(refused.key))?.value ?? {}) as { readonly count?: number };
    return refused.key === `tasks:${group}`
      ? new McpError(
          'overloaded',
          `You have ${count} unfinished tasks; the limit is ${refused.max}. Wait for one to end, or cancel one.`,
        )
      : this.#tooManyBytes(count, refused.by);
  }

  /** Throws if the server has too many unfinished tasks. */
  async checkSize(): Promise<void> {
    const isOld = performance.now() - this.#readAt >= SIZE_EVERY_MS;
    // A task may have ended since the size was read, so nothing is refused without another look.
    if (isOld || this.#size >= this.#limits.maxTasks) this.noteSize(await this.#store.size(this.#queue));
    if (this.#size < this.#limits.maxTasks) return;
    throw new McpError('overloaded', 'Too many tasks are unfinished (tasks.maxTasks). Try again later.');
  }

  /** Remembers the size of the queue, which was read just now. */
  noteSize(size: number): void {
    this.#size = size;
    this.#readAt = performance.now();
  }

  /** Counts a task that this process has added to the queue, until the size is read again. */
  noteAdded(): void {
    this.#size++;
  }

  /** Throws if a caller already has too many bytes in the store. */
  async checkBytes(place: TaskPlace): Promise<void> {
    if (!isCounted(place)) return;
    const { count = 0 } = ((await this.#store.get(`bytes:${place.group}`))?.value ?? {}) as {
      readonly count?: number;
    };
    if (count >= this.#limits.maxBytesPerCaller) throw this.#tooManyBytes(count);
  }

  #tooManyBytes(count: number, more?: number): McpError {
    const { maxBytesPerCaller } = this.#limits;
    const need = more === undefined ? '' : `, and this task needs ${more}`;
    return new McpError(
      'overloaded',
      `Your tasks have ${count} bytes in the store; the limit is ${maxBytesPerCaller}${need}. Try again when some have expired.`,
    );
  }
}

/** The changes for a task that grows or shrinks by this many bytes. */
export function grown(place: TaskPlace, bytes: number): Count[] {
  return counts(place, [0], [bytes]);
}

/** The changes for an unfinished task that ends, and then takes this many bytes more or less. */
export function ended(place: TaskPlace, bytes: number): Count[] {
  return counts(place, [-1], [bytes]);
}

type Step = readonly [by: number, max?: number];

function counts(place: TaskPlace, tasks: Step, bytes: Step): Count[] {
  if (!isCounted(place)) return [];
  return Object.entries({ tasks, bytes }).flatMap(([kind, [by, max]]): Count[] =>
    by === 0 ? [] : [{ do: 'count', key: `${kind}:${place.group}`, by, ...(max !== undefined && { max }) }],
  );
}
