// What many open streams cost one server, and how long a change takes to reach all of them.
import { setTimeout as pause } from 'node:timers/promises';
import { startServer, startStreams } from '../child.js';
import { median } from '../numbers.js';
import { steadyCalls } from './calls.js';

const SETTLE_MS = 500;
const TIMEOUT_MS = 30_000;

/** @typedef {{ name: string, server: string, way: string, hasResources?: boolean, limits?: object, streams?: number, dist?: string | undefined }} Contender */

/** Starts a server and a process for its streams, and stops both afterwards. */
export async function withStreams({ server: name, limits = {}, dist }, work) {
  const [server, load] = await Promise.all([
    startServer(`streams-${name}`, {
      args: ['1', JSON.stringify(limits)],
      execArgv: ['--expose-gc'],
      dist,
    }),
    startStreams(),
  ]);
  try {
    return await work({ server, load });
  } finally {
    await Promise.all([server.stop(), load.stop()]);
  }
}

/**
 * @param {Contender} contender
 * @param {{ streams: number, rounds: number, callsMs: number }} options
 */
export function measureStreams(contender, { streams, rounds, callsMs }) {
  const { way, hasResources = true } = contender;
  return withStreams(contender, async ({ server, load }) => {
    // A first group loads code and fills caches, which must not be charged to the measured streams.
    await openAll({ server, load, way }, Math.ceil(streams / 10));
    await load.ask({ what: 'close' });
    await pause(SETTLE_MS);
    const empty = await server.ask({ what: 'memory' });
    const from = performance.now();
    await openAll({ server, load, way }, streams);
    const openMs = performance.now() - from;
    await pause(SETTLE_MS);
    const full = await server.ask({ what: 'memory' });
    const memory = {
      heap: (full.heap - empty.heap) / streams,
      rss: (full.rss - empty.rss) / streams,
    };
    const changes = {};
    for (const kind of hasResources ? ['list', 'all', 'one'] : ['list'])
      changes[kind] = await announceTimes({ server, load }, { kind, rounds, streams });
    const calls = await callsDuringChanges({ server, load }, { callsMs, streams });
    const closed = await load.ask({ what: 'closed' });
    if (closed > 0) throw new Error(`${contender.name}: ${closed} streams were closed.`);
    await load.ask({ what: 'close' });
    await pause(2 * SETTLE_MS);
    const left = await server.ask({ what: 'memory' });
    return { memory: { ...memory, left: (left.heap - empty.heap) / streams }, openMs, changes, calls };
  });
}

/** Opens streams, and makes sure that all are open. */
export async function openAll({ server, load, way }, count, slow = 0) {
  await load.ask({ what: 'open', port: server.port, way, count, slow });
}

/** Announces changes one after the other, each when the one before it has reached everybody. Every stream must get each exactly once. */
async function announceTimes({ server, load }, { kind, rounds, streams }) {
  const before = await load.ask({ what: 'counts', kind });
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    const number = Math.floor((streams * (round + 0.5)) / rounds);
    samples.push(
      await announceOnce({ server, load }, { kind, number, streams: kind === 'one' ? 1 : streams }),
    );
  }
  // Late duplicates would arrive now.
  await pause(100);
  const { least, most, all } = await load.ask({ what: 'counts', kind });
  const isExact =
    kind === 'one'
      ? all - before.all === rounds && most <= 1 + before.most
      : least - before.least === rounds && most - before.most === rounds;
  if (!isExact) throw new Error(`${rounds} changes (${kind}) were received ${least} to ${most} times.`);
  return Object.fromEntries(
    Object.keys(samples[0] ?? {}).map((figure) => [figure, median(samples.map((sample) => sample[figure]))]),
  );
}

/** Announces a change and waits until everybody has it. */
export async function announceOnce({ server, load }, { kind, number, streams }) {
  await load.ask({ what: 'expect', kind, streams });
  const { at } = await server.ask({ what: 'announce', kind, number });
  const { missing, times } = await load.ask({ what: 'received', at, timeoutMs: TIMEOUT_MS });
  if (missing > 0) throw new Error(`A change (${kind}) has not reached ${missing} of ${streams} streams.`);
  const { blockedMs, cpuMs } = await server.ask({ what: 'cost' });
  times.sort((a, b) => a - b);
  const at99 = times[Math.ceil(times.length * 0.99) - 1];
  return { p50: median(times), p99: at99, max: times.at(-1), blockedMs, cpuMs };
}

/** The latency of a steady load of calls, without changes and with some that everybody hears. */
async function callsDuringChanges({ server, load }, { callsMs, streams }) {
  const quiet = await steadyCalls(server.port, callsMs);
  const [busy] = await Promise.all([
    steadyCalls(server.port, callsMs),
    (async () => {
      for (let at = 0; at < callsMs - 500; at += 1000) {
        const next = pause(1000);
        await announceOnce({ server, load }, { kind: 'list', streams });
        await next;
      }
    })(),
  ]);
  return { quiet, busy };
}
