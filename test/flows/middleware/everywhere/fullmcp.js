// Stands for the entry `fullmcp` in the flow tests and their processes: the same, and every server has every middleware, or is mounted in
// another one that is mounted in a third.
import process from 'node:process';
import * as fullmcp from 'fullmcp';
import { policy } from 'fullmcp/middleware';
import { allMiddleware } from '../all.js';

export * from 'fullmcp';

/** @type {(options: any) => any} */
export const createServer = process.env['FLOWS'] === 'mounted' ? mountedTwice : withAllMiddleware;

/** @param {any} options */
function withAllMiddleware(options) {
  return fullmcp.createServer({
    access: policy({ default: 'allow', rules: [{ effect: 'deny', tags: ['a tag that no test has'] }] }),
    ...options,
    // The middleware of a test stays outside: some of them look at the signal of a call, and others pass on one of their own.
    use: [...(options.use ?? []), ...allMiddleware(undefined, maxChars())],
  });
}

/** Some tests look at large results, which must arrive whole. */
function maxChars() {
  return Number(process.env['FLOWS_MAX_CHARS'] ?? 50_000_000);
}

/** The definitions, and the options that belong to the server that has them. docs/compose.md has the table. */
const INNER = ['tools', 'resources', 'prompts', 'lifespan', 'user', 'onError', 'timeoutMs', 'idempotency'];

/** @param {any} options */
function mountedTwice(options) {
  const entries = Object.entries(options);
  const own = Object.fromEntries(entries.filter(([key]) => INNER.includes(key)));
  const outer = Object.fromEntries(entries.filter(([key]) => !INNER.includes(key)));
  const { name, version, logger, changes } = options;
  const common = { name, version, ...(logger && { logger }), ...(changes !== undefined && { changes }) };
  const inner = fullmcp.createServer({ ...common, ...own });
  const middle = fullmcp.createServer({ ...common, mount: { '': inner } });
  return fullmcp.createServer({ ...outer, mount: { '': middle, ...outer.mount } });
}
