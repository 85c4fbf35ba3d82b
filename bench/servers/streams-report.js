// The reports of a server with many streams: memory, the blocked event loop, and the announcement of changes.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { now } from '../numbers.js';
import { slowUri } from '../streams/ways.js';
import { answerParent } from './report.js';

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

/**
 * @param {number} port
 * @param {{ list: () => void, resource?: (uri: string) => void }} announce
 */
export function reportStreams(port, { list, resource }) {
  const changes = {
    list,
    all: () => resource?.('bench://all'),
    one: ({ number }) => resource?.(`bench://one/${number}`),
    slow: () => resource?.(slowUri),
  };
  let cpu = process.cpuUsage();
  answerParent(port, {
    async memory() {
      for (let pass = 0; pass < 4; pass++) {
        globalThis.gc?.();
        await pause(50);
      }
      const { heapUsed, rss } = process.memoryUsage();
      return { heap: heapUsed, rss };
    },
    rss: () => process.memoryUsage().rss,
    async announce({ kind, times = 1, number }) {
      delay.reset();
      // The first interval after a reset does not count.
      await pause(5);
      cpu = process.cpuUsage();
      const at = now();
      for (let time = 0; time < times; time++) changes[kind]({ number });
      return { at };
    },
    begin() {
      delay.reset();
      cpu = process.cpuUsage();
      return 'begun';
    },
    /** What the process has done since `begin`, or since the last announcement. */
    cost() {
      const { user, system } = process.cpuUsage(cpu);
      // A delay includes the interval of the measurement itself.
      return { blockedMs: Math.max(0, delay.max / 1e6 - 1), cpuMs: (user + system) / 1000 };
    },
  });
}
