// The cost of a plain call: with a cluster that the call does not use, and without one.
import { startReplica } from '../child.js';
import { runLoad } from '../load/http.js';
import { sessionPost, startSession } from '../load/session.js';
import { interleaved } from '../numbers.js';
import { call, modernPost } from '../request.js';

const CONNECTIONS = 16;
export const NONE = 'none';

/**
 * The CPU time of a call, in microseconds, of a modern call and of one in a session.
 * @param {Record<string, import('./start.js').Engine>} engines
 * @param {{ rounds: number, roundMs: number }} options
 */
export async function measureCalls(engines, { rounds, roundMs }) {
  const running = [];
  for (const [name, { env }] of [[NONE, { env: {} }], ...Object.entries(engines)]) {
    const replica = await startReplica({ env });
    running.push({ name, replica, header: await startSession(replica.port) });
  }
  const contenders = Object.fromEntries(
    running.map(({ name, replica, header }) => [
      name,
      async () => ({
        modern: await cost(replica, modernPost(replica.port, 'tools/call', call), roundMs),
        session: await cost(replica, sessionPost(replica.port, header), roundMs),
      }),
    ]),
  );
  for (const run of Object.values(contenders)) await run();
  const figures = await interleaved(contenders, rounds);
  await Promise.all(running.map(({ replica }) => replica.stop()));
  return figures;
}

async function cost(replica, request, ms) {
  const cpu = () => replica.ask({ what: 'cpu' });
  const load = { port: replica.port, request, connections: CONNECTIONS, ms };
  const { answers, before, after } = await runLoad(load, cpu);
  return (after.user + after.system - before.user - before.system) / answers;
}
