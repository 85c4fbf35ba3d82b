import { EventEmitter } from 'node:events';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { PeerWatch } from '../../../../src/transports/websocket/peer-watch.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
});

const PING_MS = 30_000;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function watched() {
  const events: string[] = [];
  const socket = Object.assign(new EventEmitter(), { ping: () => void events.push('ping') });
  const watch = new PeerWatch(socket, { pingMs: PING_MS, onDead: () => events.push('dead') });
  onTestFinished(() => watch.stop());
  return { events, socket, watch };
}

test('a peer of a WebSocket whose pong was not read yet, because this process stood still until the next ping, is alive', async () => {
  const { events, socket } = watched();
  vi.advanceTimersByTime(PING_MS);
  for (let n = 0; n < 3; n++) {
    // The pong is read in the turn of the event loop in which the next ping is due, after the timers.
    setImmediate(() => socket.emit('pong'));
    vi.advanceTimersByTime(PING_MS);
    await turn();
  }
  expect(events).toEqual(['ping', 'ping', 'ping', 'ping']);
});

test('a peer of a WebSocket that does not answer a ping until the next one is dead, unless the watch was stopped', async () => {
  const { events } = watched();
  vi.advanceTimersByTime(2 * PING_MS);
  await turn();
  expect(events).toEqual(['ping', 'dead']);

  const stopped = watched();
  vi.advanceTimersByTime(2 * PING_MS);
  stopped.watch.stop();
  await turn();
  expect(stopped.events).toEqual(['ping']);
});
