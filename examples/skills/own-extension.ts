// An extension of our own: a method, and an outcome that only clients which declare the extension get.
import { createServer, tool } from 'fullmcp';
import type { Middleware } from 'fullmcp/client';
import { type ClientExtension, declares, extension } from 'fullmcp/extension';

const reports = new Map([['r1', 'All is well.']]);

// #region server
const ID = 'com.example/deferred';

const later: Middleware = async (call, next) =>
  call.method === 'tools/call' && declares(call.peer, ID)
    ? { resultType: 'example_deferred', ticket: 'r1' }
    : next(call);

export const server = createServer({
  name: 'reports',
  version: '1.0.0',
  tools: { report: tool({ run: () => 'All is well.' }) },
  extensions: [
    extension({
      id: ID,
      settings: { maxWaitMs: 1000 },
      outcomes: ['example_deferred'],
      use: [later],
      methods: {
        'deferred/collect': { run: ({ ticket }) => ({ text: reports.get(String(ticket)) ?? '' }) },
      },
    }),
  ],
});
// #endregion

// #region client
export const deferred: ClientExtension = {
  id: ID,
  use: [
    async function collect(call, next) {
      const outcome = await next(call);
      if (outcome.resultType !== 'example_deferred') return outcome;
      const { ticket } = outcome;
      const { text } = await next({
        ...call,
        method: 'deferred/collect',
        params: { ...call.params, ticket },
      });
      return { resultType: 'complete', content: [{ type: 'text', text }] };
    },
  ],
};
// #endregion
