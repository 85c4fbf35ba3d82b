import { createServer, type Server } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { newsletter, order, render } from './tools.js';

// #region durable
/** Unfinished tasks resume when the next process opens the same folder. */
export function durable(folder: string): Server<undefined, undefined> {
  return createServer({
    name: 'press',
    version: '1.0.0',
    secret: process.env['MCP_SECRET'] ?? 'only for the examples: not a secret',
    store: lmdbStore(folder),
    tools: { render, newsletter, order },
  });
}
// #endregion
