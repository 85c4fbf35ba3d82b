// A process that receives events, by webhook on several ports and by stream, and notes when each of them comes.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { now } from '../numbers.js';
import { modernPost } from '../request.js';
import { answerParent } from '../servers/report.js';
import { Connection } from '../streams/connection.js';

const AT = /"at":([\d.]+)/;
const AT_ONCE = 32;

/** @type {Connection[]} */
const streams = [];
/** The events that are expected: how many are missing, and the delays of the others. */
let expected = { missing: 0, delays: /** @type {number[]} */ ([]), lastAt: 0, done: () => {} };

/** @param {string} text */
function receive(text) {
  const at = AT.exec(text)?.[1];
  if (at === undefined) return;
  expected.lastAt = now();
  expected.delays.push(expected.lastAt - Number(at));
  if (--expected.missing === 0) expected.done();
}

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
function hook(request, response) {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    receive(text);
    response.writeHead(204).end();
  });
}

answerParent(0, {
  async listen({ hosts }) {
    const servers = Array.from({ length: hosts }, () => createServer(hook).listen(0, '127.0.0.1'));
    await Promise.all(servers.map((server) => once(server, 'listening')));
    return servers.map((server) => `http://127.0.0.1:${server.address().port}`);
  },
  async follow({ port, queue, count }) {
    let next = 0;
    async function openSome() {
      for (let number = next++; number < count; number = next++) {
        const connection = new Connection(port, number, receive);
        streams.push(connection);
        const params = { name: 'ticket_changed', arguments: { queue } };
        const reply = await connection.ask(modernPost(port, 'events/stream', params));
        if (!reply.startsWith('HTTP/1.1 200') || !reply.includes('text/event-stream'))
          throw new Error(`No stream:\n${reply}`);
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, openSome));
    return streams.length;
  },
  expect({ count }) {
    expected = { missing: count, delays: [], lastAt: 0, done: () => {} };
    return 'ready';
  },
  async received({ timeoutMs }) {
    const done = new Promise((resolve) => {
      expected.done = () => resolve(undefined);
    });
    let timer;
    if (expected.missing > 0)
      await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, timeoutMs)))]);
    clearTimeout(timer);
    const { missing, delays, lastAt } = expected;
    return { missing, delays, lastAt };
  },
  unfollow() {
    for (const connection of streams.splice(0)) connection.close();
    return 'closed';
  },
});
