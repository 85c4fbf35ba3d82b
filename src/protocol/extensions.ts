/** The extension that lets a call go on as a task. */
export const TASKS = 'io.modelcontextprotocol/tasks';
