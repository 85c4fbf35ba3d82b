/** The events of a task, as its migration reads and returns them. */
export interface TaskJournal {
  /** The arguments of the call. */
  readonly args: unknown;
  /** The results of the steps that have run, by key. */
  readonly steps: Readonly<Record<string, unknown>>;
  /** The answers of the user, by the key of the question. They can be left out, but not changed: the question is asked again then. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The keys of steps that began and did not end: they may or may not have had their effect. The result of a migration need not have them. */
  readonly unfinished?: readonly string[];
}

/** Continues the tasks of a version of the tool that is gone. */
export interface TaskMigration {
  /** The version that began the tasks. While it is served, it continues them itself. */
  readonly from: string;
  /**
   * Makes the journal with which this version continues: its handler runs from its first line with these arguments, results and answers.
   * Runs once for each task. If it throws, the task fails, and nothing more of it runs.
   */
  readonly journal: (journal: TaskJournal) => TaskJournal | Promise<TaskJournal>;
}

/** The settings of a tool that runs as a task. */
export interface TaskOptions {
  /**
   * `optional`: the tool runs as a task for clients that support tasks, and as an ordinary call for others. `required`: only as
   * a task; other clients get an error.
   */
  readonly support: 'optional' | 'required';
  /**
   * `immediately`: the call is a task from its start. `on-background`: it is an ordinary call, which may ask questions, until the
   * handler awaits `ctx.background()`. Default: `immediately`.
   */
  readonly start?: 'immediately' | 'on-background';
  /** The time for which the task and its result are kept. Default: the server's `tasks.ttlMs`. */
  readonly ttlMs?: number;
  /** The interval at which clients should poll. Default: the server's `tasks.pollIntervalMs`. */
  readonly pollIntervalMs?: number;
  /**
   * The migration of tasks that began in an earlier version, for a tool in `versions`. Default: such tasks fail when no process serves
   * their version any more.
   */
  readonly migrate?: TaskMigration;
}

/** The table of `TaskOptions`. */
export const taskTable = {
  support: { oneOf: ['optional', 'required'], required: true },
  start: { oneOf: ['immediately', 'on-background'] },
  ttlMs: 'count',
  pollIntervalMs: 'count',
  migrate: {
    is: 'object',
    options: { from: { is: 'string', required: true }, journal: { is: 'function', required: true } },
  },
} as const;

/** The limits for the time and the space that tasks may take. */
export interface TasksOptions {
  /** The time for which a task and its result are kept, for tools without their own `ttlMs`. Default: 1 hour. */
  readonly ttlMs?: number;
  /** The interval at which clients should poll, for tools without their own `pollIntervalMs`. Default: 1 s. */
  readonly pollIntervalMs?: number;
  /**
   * The number of tasks that may be unfinished at the same time; further tasks are rejected with `overloaded`. Default: 10,000.
   */
  readonly maxTasks?: number;
  /**
   * The number of unfinished tasks that one caller may have; further tasks are rejected with `overloaded`. Default: 1,000.
   * Ignored for calls without `auth`.
   */
  readonly maxTasksPerCaller?: number;
  /**
   * The bytes that the tasks of one caller may have in the store, finished ones included; beyond that, new tasks and answers
   * are rejected with `overloaded`. Default: 64 MB. Ignored for calls without `auth`.
   */
  readonly maxBytesPerCaller?: number;
  /**
   * The bytes that one task may have in the store (arguments, answers, results of steps, result); a larger task fails.
   * Default: 16 MB.
   */
  readonly maxTaskBytes?: number;
  /** The bytes that all answers to one task may have together; further answers are rejected. Default: 1 MB. */
  readonly maxAnswerBytes?: number;
  /**
   * The number of tasks that run in one process at the same time, those that wait for an answer not included. Further tasks wait
   * until a process has room for them. Default: 100.
   */
  readonly maxRunning?: number;
  /**
   * The time for which a handler that has asked a question waits in its process. After that the handler ends, and with the answer
   * it runs again from its first line, in any process. 0: it ends as soon as it has asked. Default: 60 s.
   */
  readonly parkMs?: number;
  /**
   * The time after which a process that does not respond counts as dead: other processes take up its tasks, its calls with an
   * idempotency key count as lost, and clients of 2025 and earlier that wait for its calls get an error. Default: 15 s.
   */
  readonly leaseMs?: number;
}

/** The table of `TasksOptions`. */
export const tasksTable = {
  ttlMs: { is: 'count', default: 3_600_000 },
  pollIntervalMs: { is: 'count', default: 1000 },
  maxTasks: { is: 'count', default: 10_000 },
  maxTasksPerCaller: { is: 'count', default: 1000 },
  maxBytesPerCaller: { is: 'count', default: 67_108_864 },
  maxTaskBytes: { is: 'count', default: 16_777_216 },
  maxAnswerBytes: { is: 'count', default: 1_048_576 },
  maxRunning: { is: 'count', default: 100 },
  parkMs: { is: 'timer', default: 60_000 },
  leaseMs: { is: 'count', default: 15_000 },
} as const;
