import { BoundedMap } from '../../../async/bounded-map.js';

// The ids of tasks that were started, so that a later visit can follow them.

const MAX_TASKS = 200;

export interface KnownTask {
  readonly id: string;
  readonly tool: string;
  readonly at: number;
}

/** The tasks of one server, by its address. */
export class KnownTasks {
  readonly #tasks = new BoundedMap<string, KnownTask>(MAX_TASKS);
  readonly #onAdd: () => void;

  constructor(onAdd: () => void) {
    this.#onAdd = onAdd;
  }

  /** Takes the tasks of earlier visits. */
  load(tasks: readonly KnownTask[]): void {
    const own = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const task of [...tasks, ...own]) this.#tasks.set(task.id, task);
  }

  add(id: string, tool: string): void {
    if (id.length > 1000) return;
    this.#tasks.set(id, { id, tool: tool.slice(0, 200), at: Date.now() });
    this.#onAdd();
  }

  toolOf(id: string): string | undefined {
    return this.#tasks.get(id)?.tool;
  }

  get all(): readonly KnownTask[] {
    return [...this.#tasks.values()];
  }
}
