// The memory of tasks that wait for an answer, and of idle streams.
import { startReplica } from '../child.js';
import { ask, open } from '../load/http.js';
import { modernPost } from '../request.js';

const WARM_UP = 1000;
const AT_ONCE = 50;

/**
 * The live heap of a replica for each task that waits: put aside in the store, and with its handler in memory.
 * @param {import('./start.js').Engine} engine
 * @param {{ count: number }} options
 */
export async function measureWaiting(engine, { count }) {
  const aside = await parked(engine, { count, tasks: { parkMs: 0 }, stays: false });
  const live = await parked(engine, {
    count,
    tasks: { parkMs: 3_600_000, maxRunning: 2 * count },
    stays: true,
  });
  return { aside, live };
}

async function parked({ env }, { count, tasks, stays }) {
  const replica = await startReplica({
    env: { ...env, TASKS: JSON.stringify({ maxTasks: 1_000_000, ...tasks }) },
    execArgv: ['--expose-gc'],
  });
  await replica.ask({ what: 'park', count: WARM_UP, stays });
  const before = await replica.ask({ what: 'heap' });
  const { handlers } = await replica.ask({ what: 'park', count, stays });
  const bytes = ((await replica.ask({ what: 'heap' })) - before) / count;
  await replica.stop();
  const expected = stays ? count + WARM_UP : 0;
  if (handlers !== expected) throw new Error(`${handlers} handlers are in memory, not ${expected}.`);
  return bytes;
}

/**
 * The memory of a replica for each idle stream, and the CPU time of a change that goes to all of them.
 * @param {import('./start.js').Engine} engine
 * @param {{ count: number }} options
 */
export async function measureStreams({ env }, { count }) {
  const replica = await startReplica({ env, execArgv: ['--expose-gc'] });
  const listen = async () => {
    const socket = await open(replica.port);
    const filter = { notifications: { toolsListChanged: true } };
    const reply = await ask(socket, modernPost(replica.port, 'subscriptions/listen', filter));
    if (!reply.startsWith('HTTP/1.1 200')) throw new Error(`No stream:\n${reply}`);
    return socket;
  };
  const openMany = async (number) => {
    const sockets = [];
    while (sockets.length < number)
      sockets.push(
        ...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, number - sockets.length) }, listen))),
      );
    return sockets;
  };
  const first = await openMany(WARM_UP);
  const before = await replica.ask({ what: 'memory' });
  const sockets = [...first, ...(await openMany(count))];
  const after = await replica.ask({ what: 'memory' });

  const heard = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve))));
  const cpu = await replica.ask({ what: 'cpu' });
  await replica.ask({ what: 'change' });
  await heard;
  const then = await replica.ask({ what: 'cpu' });
  for (const socket of sockets) socket.destroy();
  await replica.stop();
  return {
    heap: (after.heap - before.heap) / count,
    rss: (after.rss - before.rss) / count,
    files: (after.files - before.files) / count,
    changeMicroseconds: (then.user + then.system - cpu.user - cpu.system) / sockets.length,
  };
}
