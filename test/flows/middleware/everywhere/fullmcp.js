// Stands for the entry `fullmcp` in the flow tests and their processes: the same, and every server has every middleware.
import * as fullmcp from 'fullmcp';
import { policy } from 'fullmcp/middleware';
import { allMiddleware } from '../all.js';

export * from 'fullmcp';

/** @param {any} options */
export function createServer(options) {
  return fullmcp.createServer({
    access: policy({ default: 'allow', rules: [{ effect: 'deny', tags: ['a tag that no test has'] }] }),
    ...options,
    // The middleware of a test stays outside: some of them look at the signal of a call, and others pass on one of their own.
    use: [...(options.use ?? []), ...allMiddleware()],
  });
}
