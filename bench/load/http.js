import { once } from 'node:events';
import { connect } from 'node:net';

// HTTP/1.1 keep-alive clients that do as little work as possible: the bytes of the request are made once, and once the
// length of a reply is known, a reply is that many bytes.

/** @typedef {{ next: () => Buffer | undefined }} Requests Requests of which each is sent once. The run ends with the last one. */

/**
 * Keeps `connections` busy for `ms`, one request at a time on each. `around` is called when the timed part begins and ends.
 * @param {{ port: number, request: string | ((connection: number) => string) | Requests, connections: number, ms: number }} options
 * @param {() => Promise<unknown>} around
 */
export async function runLoad({ port, request, connections, ms }, around = async () => undefined) {
  const nextOf = typeof request === 'object' ? () => request.next : repeat(request);
  // Opened for each run, because a server closes connections that were idle between two rounds.
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const expected = await answerLength(sockets[0], nextOf(0)());
  const before = await around();
  const from = performance.now();
  const counts = await Promise.all(
    sockets.map((socket, connection) =>
      keepBusy(socket, { next: nextOf(connection), expected, until: from + ms }),
    ),
  );
  const took = performance.now() - from;
  const after = await around();
  for (const socket of sockets) socket.destroy();
  return { answers: counts.reduce((sum, count) => sum + count, 0), ms: took, before, after };
}

/** @param {string | ((connection: number) => string)} request */
function repeat(request) {
  return function nextOf(/** @type {number} */ connection) {
    const bytes = Buffer.from(typeof request === 'string' ? request : request(connection));
    return () => bytes;
  };
}

function keepBusy(socket, { next, expected, until }) {
  return new Promise((resolve, reject) => {
    let received = 0;
    let answers = 0;
    socket.on('data', (chunk) => {
      if (received === 0 && chunk[9] !== 0x32) reject(new Error(chunk.toString('utf8')));
      received += chunk.length;
      if (received < expected) return;
      received = 0;
      answers++;
      const bytes = performance.now() < until ? next() : undefined;
      if (bytes !== undefined) socket.write(bytes);
      else resolve(answers);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The server closed a busy connection.')));
    socket.write(next() ?? reject(new Error('There are fewer requests than connections.')) ?? '');
  });
}

/** @param {number} port */
export async function open(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

async function answerLength(socket, request) {
  const text = await ask(socket, request, isWhole);
  if (!text.startsWith('HTTP/1.1 200')) throw new Error(`The server rejected the request:\n${text}`);
  return Buffer.byteLength(text);
}

/**
 * Sends a request and reads the reply: the whole reply, or the beginning of an event stream.
 * @param {import('node:net').Socket} socket
 * @param {string | Buffer} request
 * @param {(text: string) => boolean} [isEnough]
 * @returns {Promise<string>}
 */
export function ask(socket, request, isEnough = isComplete) {
  return new Promise((resolve, reject) => {
    let text = '';
    function onData(chunk) {
      text += chunk.toString('utf8');
      if (!isEnough(text)) return;
      socket.off('data', onData).off('error', reject);
      resolve(text);
    }
    socket.on('data', onData).once('error', reject);
    socket.write(request);
  });
}

/** Whether a reply is complete, or is the beginning of an event stream. @param {string} text */
export function isComplete(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  return text.slice(0, end).toLowerCase().includes('text/event-stream') || isWhole(text);
}

/** Whether a reply has come to its end, also when it is an event stream. @param {string} text */
export function isWhole(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const head = text.slice(0, end).toLowerCase();
  const length = /content-length: (\d+)/.exec(head)?.[1];
  if (length !== undefined) return Buffer.byteLength(text) - Buffer.byteLength(head) - 4 >= Number(length);
  return !head.includes('transfer-encoding: chunked') || text.endsWith('0\r\n\r\n');
}
