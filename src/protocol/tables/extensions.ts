/** The extension that lets a call go on as a task. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/**
 * Where the `_meta` of a task has its progress as numbers: `{ progress, total, message }`. The extension has no place for them,
 * and `notifications/progress` are not sent for tasks.
 */
export const TASK_PROGRESS = 'fullmcp/progress';
