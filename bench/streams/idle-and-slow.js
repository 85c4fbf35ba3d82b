// What streams cost that nothing is sent on, and what clients cost that do not read theirs.
import { setTimeout as pause } from 'node:timers/promises';
import { announceOnce, openAll, withStreams } from './measure.js';

const KEEP_ALIVE_MS = 1000;
const DEFAULT_KEEP_ALIVE_MS = 15_000;
/** The unread bytes of a stream after which its client is disconnected. */
const UNREAD_BYTES = 256 * 1024;

/** The cost of the comments that keep streams open. They are sent more often than by default, so that there are enough of them. */
export function measureKeepAlive({ streams, ms }) {
  const limits = { keepAliveMs: KEEP_ALIVE_MS };
  return withStreams({ server: 'fullmcp', limits }, async ({ server, load }) => {
    // The measurement costs something itself, which is subtracted.
    await server.ask({ what: 'begin' });
    await pause(ms / 2);
    const idle = 2 * (await server.ask({ what: 'cost' })).cpuMs;
    await openAll({ server, load, way: 'listen' }, streams);
    const before = await load.ask({ what: 'counts', kind: 'ping' });
    await server.ask({ what: 'begin' });
    await pause(ms);
    const { cpuMs, blockedMs } = await server.ask({ what: 'cost' });
    const after = await load.ask({ what: 'counts', kind: 'ping' });
    const pings = after.all - before.all;
    if (pings < streams) throw new Error(`Only ${pings} comments were sent on ${streams} streams.`);
    const microseconds = (Math.max(0, cpuMs - idle) * 1000) / pings;
    const perSecondMs = (microseconds * streams) / DEFAULT_KEEP_ALIVE_MS;
    return { pings, microseconds, perSecondMs, blockedMs };
  });
}

/** Some clients never read, while changes that only they hear fill their connections. All others must get everything. */
export function measureSlowReaders({ streams, slow, rounds }) {
  const limits = { maxBufferedBytes: UNREAD_BYTES };
  return withStreams({ server: 'fullmcp', limits }, async ({ server, load }) => {
    await openAll({ server, load, way: 'listen' }, streams, slow);
    const { rss: empty } = await server.ask({ what: 'memory' });
    let peak = 0;
    for (let round = 0; round < rounds; round++) {
      await server.ask({ what: 'announce', kind: 'slow', times: 100 });
      peak = Math.max(peak, await server.ask({ what: 'rss' }));
      await announceOnce({ server, load }, { kind: 'list', streams: streams - slow });
    }
    const { least, most } = await load.ask({ what: 'counts', kind: 'list', from: slow });
    if (least !== rounds || most !== rounds)
      throw new Error(`${rounds} changes were received ${least} to ${most} times beside slow readers.`);
    const ended = await load.ask({ what: 'resume', slow });
    if (ended !== slow) throw new Error(`Only ${ended} of ${slow} slow readers were disconnected.`);
    return { ended, changes: rounds, peakMb: (peak - empty) / 1e6 };
  });
}
