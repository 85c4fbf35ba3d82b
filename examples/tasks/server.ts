import { createServer } from 'fullmcp';
import { newsletter, order, render } from './tools.js';

// #region limits
export default createServer({
  name: 'press',
  version: '1.0.0',
  secret: process.env['MCP_SECRET'] ?? 'only for the examples: not a secret',
  tools: { render, newsletter, order },
  tasks: {
    ttlMs: 3_600_000, // how long a task and its result are kept
    pollIntervalMs: 200, // how often clients should poll
    maxTasks: 10_000, // unfinished tasks at the same time
    maxTasksPerCaller: 1000, // unfinished tasks of one caller
  },
});
// #endregion
