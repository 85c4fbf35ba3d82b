// A process that holds open streams and notes when each of them receives a message.
import { now } from '../numbers.js';
import { answerParent } from '../servers/report.js';
import { Connection } from './connection.js';
import { slowUri, ways } from './ways.js';

const AT_ONCE = 64;

/** @type {Connection[]} */
const connections = [];
/** How often each stream has received each kind of message. @type {Record<string, Uint32Array>} */
let counts = {};
/** The streams that have not received what is expected yet, and when the others did. */
let expected = { kind: '', missing: 0, times: /** @type {number[]} */ ([]), done: () => {} };

answerParent(0, {
  async open({ port, way, count, slow = 0 }) {
    counts = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, new Uint32Array(count)]));
    let next = 0;
    async function openSome() {
      for (let number = next++; number < count; number = next++) {
        const own = number;
        const connection = new Connection(port, number, (text) => receive(own, text));
        connections[number] = connection;
        const uris = ['bench://all', number < slow ? slowUri : `bench://one/${number}`];
        await ways[way]?.(connection, { port, uris });
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, openSome));
    for (const connection of connections.slice(0, slow)) connection.pause();
    return connections.length;
  },
  expect({ kind, streams }) {
    expected = { kind, missing: streams, times: [], done: () => {} };
    return 'ready';
  },
  async received({ at, timeoutMs }) {
    const done = new Promise((resolve) => {
      expected.done = () => resolve(undefined);
    });
    let timer;
    if (expected.missing > 0)
      await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, timeoutMs)))]);
    clearTimeout(timer);
    return { missing: expected.missing, times: expected.times.map((time) => time - at) };
  },
  counts: ({ kind, from = 0 }) => {
    const all = counts[kind]?.subarray(from, connections.length) ?? [];
    return { least: Math.min(...all), most: Math.max(...all), all: all.reduce((sum, one) => sum + one, 0) };
  },
  /** Lets slow readers read again: those that the server has ended see it then. */
  resume: async ({ slow }) => {
    const some = connections.slice(0, slow);
    for (const connection of some) connection.resume();
    for (let tries = 0; tries < 50 && some.some(({ isClosed }) => !isClosed); tries++)
      await new Promise((resolve) => setTimeout(resolve, 100));
    return some.filter(({ isClosed }) => isClosed).length;
  },
  closed: () => connections.filter(({ isClosed }) => isClosed).length,
  close() {
    for (const connection of connections.splice(0)) connection.close();
    return 'closed';
  },
});

const kinds = {
  list: (text) => text.includes('notifications/tools/list_changed'),
  all: (text) => text.includes('"uri":"bench://all"'),
  one: (text) => text.includes('"uri":"bench://one/'),
  ping: (text) => text.startsWith(':'),
};

function receive(number, text) {
  for (const kind in kinds) {
    if (!kinds[kind](text)) continue;
    counts[kind][number]++;
    if (kind !== expected.kind) return;
    expected.times.push(now());
    if (--expected.missing === 0) expected.done();
    return;
  }
}
