// The server whose events are measured, and the load on itself. Parent and child talk over IPC.
import { fullmcp } from '../fullmcp.js';
import { now } from '../numbers.js';
import { answerParent } from '../servers/report.js';

const { createServer, event, inProcess, memoryStore } = await fullmcp('index');
const { serve } = await fullmcp('node');

const { NAME: name = 'bench', STORE: folder, RECEIVERS: receivers = '[]' } = process.env;
const origins = JSON.parse(receivers);
/** A hundred thousand subscriptions have more entries than a store takes by default. */
const room = { maxEntries: 5_000_000, maxBytes: 8e9, kindShare: 1, callerShare: 1 };
/** The requests of subscribers that wait for the engine at the same time. */
const AT_ONCE = 16;
const CALLERS = 100;

const server = createServer({
  ...{ name, version: '1.0.0' },
  store: await ownStore(),
  logger: (level, message, detail) => level === 'error' && console.error(message, detail),
  webhooks: {
    ...{ allow: origins, privateHosts: origins },
    ...{ maxPerCaller: 1_000_000, maxPerHost: 1_000_000, maxSubscriptions: 1_000_000 },
  },
  events: {
    ticket_changed: event({
      description: 'A ticket changed',
      input: { type: 'object', properties: { queue: { type: 'string' } }, required: ['queue'] },
      payload: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          queue: { type: 'string' },
          status: { type: 'string' },
          at: { type: 'number' },
        },
        required: ['id', 'queue', 'at'],
      },
      match: (ticket, { queue }) => ticket.queue === queue,
    }),
  },
});
const { port } = await serve(server, { port: 0, host: '127.0.0.1', signals: false });
const callers = Array.from({ length: CALLERS }, (_, at) =>
  inProcess(server, { caller: { subject: `caller ${at}` } }),
);
/** The cursor of the poll that is measured. */
let cursor = null;

/** The store of an engine that has none of its own. */
async function ownStore() {
  if (folder !== undefined) return (await fullmcp('lmdb')).lmdbStore(folder, room);
  return process.env.MCP_CLUSTER_URL === undefined ? memoryStore(room) : undefined;
}

/** Emits events of a queue, `window` at the same time. */
async function emit({ queue, count, window }) {
  let left = count;
  const [cpu, from] = [process.cpuUsage(), now()];
  await atOnce(window, async () => {
    while (left-- > 0)
      await server.emit('ticket_changed', { id: `T-${left}`, queue, status: 'open', at: now() });
  });
  const { user, system } = process.cpuUsage(cpu);
  return { from, ms: now() - from, cpuMs: (user + system) / 1000 };
}

/** Makes subscriptions of webhooks, as many callers do. Subscription `n` is for the `n`th of the queues and the `n`th of the origins, in turn. */
async function subscribe({ first = 0, count, queues, hosts }) {
  let next = first;
  const from = now();
  await atOnce(AT_ONCE, async () => {
    for (let n = next++; n < first + count; n = next++) {
      const delivery = {
        mode: 'webhook',
        url: `${hosts[n % hosts.length]}/${n}`,
        secret: `whsec_${btoa('s'.repeat(32))}`,
      };
      const queue = queues[n % queues.length];
      await callers[n % CALLERS]('events/subscribe', {
        name: 'ticket_changed',
        arguments: { queue },
        delivery,
      });
    }
  });
  return { ms: now() - from };
}

/** Polls from where the last poll has ended. */
async function poll({ queue }) {
  const [cpu, from] = [process.cpuUsage(), now()];
  let events = 0;
  for (let hasMore = true; hasMore; ) {
    const params = { name: 'ticket_changed', arguments: { queue }, cursor, maxEvents: 100 };
    const page = await callers[0]('events/poll', params);
    events += page.events.length;
    ({ cursor, hasMore } = page);
  }
  const { user, system } = process.cpuUsage(cpu);
  return { events, ms: now() - from, cpuMs: (user + system) / 1000 };
}

function atOnce(lanes, work) {
  return Promise.all(Array.from({ length: lanes }, work));
}

answerParent(port, { emit, subscribe, poll });
