// Events on one engine: emitted, polled, followed, delivered to webhooks, and told to many subscribers.
import { startDesk, startReceiver } from '../child.js';
import { median } from '../numbers.js';

/** The receivers of webhooks, each a host of its own to the server. */
const HOSTS = 25;
/** The events that are emitted at the same time. More would only wait, and an engine on a busy machine would be late for the last of them. */
const WINDOW = 64;
const SUBSCRIBERS = 500;
/** The subscriptions that get all of many events. */
const BUSY = 32;
const TIMEOUT_MS = 120_000;
let runs = 0;

/** @typedef {import('../engines/start.js').Engine} Engine */

/**
 * Measures one engine once.
 * @param {Engine} engine
 * @param {{ events: number, rounds: number }} options
 * @returns {Promise<Record<string, number>>} Figures by name.
 */
export async function measureEvents(engine, { events, rounds }) {
  const { desk, receiver, hosts, stop } = await startBoth(engine);
  /** @type {Record<string, number>} */
  const figures = {};
  const emit = (queue, count, window = WINDOW) => desk.ask({ what: 'emit', queue, count, window });
  const expecting = async (count, begin) => {
    await receiver.ask({ what: 'expect', count });
    const { from } = await begin();
    const { missing, delays, lastAt } = await receiver.ask({ what: 'received', timeoutMs: TIMEOUT_MS });
    if (missing > 0) throw new Error(`${missing} of ${count} events did not arrive in ${TIMEOUT_MS} ms.`);
    return { ms: lastAt - from, delays };
  };
  const cost = async (name, count, run) => {
    const [cpu, engineCpu] = [await desk.ask({ what: 'cpu' }), engine.cpuMs()];
    const { ms } = await run();
    const { user, system } = await desk.ask({ what: 'cpu' });
    figures[name] = (count / ms) * 1000;
    figures[`${name}, replica CPU`] = (user + system - cpu.user - cpu.system) / count;
    figures[`${name}, engine CPU`] = (1000 * (engine.cpuMs() - engineCpu)) / count;
  };
  /** The delays of one event that goes to many, of several events. */
  const toldTo = async (name, queue, count) => {
    const all = [];
    for (let round = 0; round <= rounds; round++) {
      const { delays } = await expecting(count, () => emit(queue, 1));
      // The first one opens connections and reads the subscriptions.
      if (round > 0) all.push(delays.sort((a, b) => a - b));
    }
    figures[`${name}, first`] = median(all.map((delays) => delays[0]));
    figures[`${name}, half`] = median(all.map((delays) => delays[delays.length >> 1]));
    figures[`${name}, last`] = median(all.map((delays) => delays[delays.length - 1]));
  };

  // Loads code, and lets the engine prepare its statements.
  await emit('none', 200);
  await desk.ask({ what: 'poll', queue: 'none' });
  const alone = Math.ceil(events / 20);
  await cost('emitted, one at a time', alone, () => emit('none', alone, 1));
  await desk.ask({ what: 'poll', queue: 'none' });
  await cost('emitted', events, () => emit('none', events));
  await cost('polled', events, () => desk.ask({ what: 'poll', queue: 'none' }));

  await receiver.ask({ what: 'follow', port: desk.port, queue: 'followed', count: 1 });
  await cost('followed', events, () => expecting(events, () => emit('followed', events)));
  await receiver.ask({ what: 'unfollow' });
  await receiver.ask({ what: 'follow', port: desk.port, queue: 'streams', count: SUBSCRIBERS });
  await toldTo('streams', 'streams', SUBSCRIBERS);
  await receiver.ask({ what: 'unfollow' });

  const subscribe = (queue, count, at) => desk.ask({ what: 'subscribe', queues: [queue], count, hosts: at });
  await subscribe('busy', BUSY, hosts);
  const delivered = Math.ceil(events / 10);
  await expecting(BUSY * 20, () => emit('busy', 20));
  await cost('delivered', BUSY * delivered, () => expecting(BUSY * delivered, () => emit('busy', delivered)));
  await subscribe('many hosts', SUBSCRIBERS, hosts);
  await toldTo('webhooks', 'many hosts', SUBSCRIBERS);
  await subscribe('one host', SUBSCRIBERS, hosts.slice(0, 1));
  await toldTo('webhooks of one host', 'one host', SUBSCRIBERS);
  await stop();
  return figures;
}

/**
 * The heap of each subscription of a webhook when there are many, and the delay of an event that is for one of them.
 * @param {Engine} engine
 * @param {{ count: number }} options
 */
export async function measureSubscriptions(engine, { count }) {
  const { desk, receiver, hosts, stop } = await startBoth(engine);
  const subscribe = (options) => desk.ask({ what: 'subscribe', hosts, ...options });
  const told = async () => {
    await receiver.ask({ what: 'expect', count: 1 });
    await desk.ask({ what: 'emit', queue: 'one', count: 1, window: 1 });
    const { missing, delays } = await receiver.ask({ what: 'received', timeoutMs: TIMEOUT_MS });
    if (missing > 0) throw new Error(`The event did not arrive in ${TIMEOUT_MS} ms.`);
    return delays[0];
  };
  await subscribe({ queues: ['one'], count: 1 });
  await told();
  const before = await desk.ask({ what: 'heap' });
  const { ms } = await subscribe({
    queues: Array.from({ length: 1000 }, (_, n) => `queue ${n}`),
    first: 1,
    count,
  });
  // The first event after subscriptions have come reads them.
  const first = await told();
  const next = await told();
  const bytes = ((await desk.ask({ what: 'heap' })) - before) / count;
  await stop();
  return { bytes, first, next, perSecond: (1000 * count) / ms };
}

/** A server of its own in the engine, and its receivers. @param {Engine} engine */
async function startBoth({ env }) {
  const receiver = await startReceiver();
  const hosts = await receiver.ask({ what: 'listen', hosts: HOSTS });
  const desk = await startDesk({
    execArgv: ['--expose-gc', '--max-old-space-size=8192'],
    env: { ...env, NAME: `bench-${process.pid}-${++runs}`, RECEIVERS: JSON.stringify(hosts) },
  });
  return { desk, receiver, hosts, stop: () => Promise.all([desk.stop(), receiver.stop()]) };
}
