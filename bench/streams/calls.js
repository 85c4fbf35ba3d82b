import { setTimeout as pause } from 'node:timers/promises';
import { ask, open } from '../load/http.js';
import { call, modernPost } from '../request.js';

const EVERY_MS = 5;

/**
 * Makes a call every 5 ms. The time of each counts from the moment at which it was due, so that a blocked server is not
 * asked less often.
 * @param {number} port @param {number} ms
 */
export async function steadyCalls(port, ms) {
  const { name, arguments: args } = call;
  const request = modernPost(port, 'tools/call', { name, arguments: args });
  const socket = await open(port);
  const times = [];
  const from = performance.now();
  for (let due = from; due < from + ms; due += EVERY_MS) {
    const wait = due - performance.now();
    if (wait > 0) await pause(wait);
    await ask(socket, request);
    times.push(performance.now() - due);
  }
  socket.destroy();
  times.sort((a, b) => a - b);
  return { p50: times[times.length >> 1] ?? 0, p99: times[Math.ceil(times.length * 0.99) - 1] ?? 0 };
}
