import type { Cluster } from 'fullmcp';
import { busContract, eventLogContract, storeContract } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import type {
  ProcessChannel,
  ToPrimary,
  ToWorker,
} from '../../../../../src/adapters/node/workers/messages.js';
import { PrimaryState } from '../../../../../src/adapters/node/workers/primary-state.js';
import { workerCluster } from '../../../../../src/adapters/node/workers/worker-cluster.js';

/** Two ends of a channel that carries JSON, as the channel between two processes does. */
function channelPair() {
  const ends = { primary: new Set<(message: never) => void>(), worker: new Set<(message: never) => void>() };
  const closers = new Set<() => void>();
  const end = (mine: keyof typeof ends, others: keyof typeof ends): ProcessChannel<never, never> => ({
    send: (message) => {
      const json = JSON.stringify(message);
      setImmediate(() => {
        for (const listener of ends[others]) listener(JSON.parse(json) as never);
      });
    },
    onMessage: (listener) => void ends[mine].add(listener),
    onClose: (listener) => void closers.add(listener),
  });
  return {
    primary: end('primary', 'worker') as unknown as ProcessChannel<ToWorker, ToPrimary>,
    worker: end('worker', 'primary') as unknown as ProcessChannel<ToPrimary, ToWorker>,
    close: () => {
      for (const close of closers) close();
    },
  };
}

function startWorkers() {
  const state = new PrimaryState();
  const open = (): Cluster & { readonly disconnect: () => void } => {
    const { primary, worker, close } = channelPair();
    state.serve(primary);
    return { ...workerCluster(worker), disconnect: close };
  };
  return { state, open };
}

describe('the state that the primary process keeps for its workers', () => {
  const { open } = startWorkers();
  const stores = { open: () => open().store as never, openAnother: () => open().store as never };
  for (const { name, run } of storeContract(stores)) test(name, run);
  const buses = { open: () => open().bus, openAnother: () => open().bus };
  for (const { name, run } of busContract(buses)) test(name, run);
  const logs = { open: () => open().eventLog, openAnother: () => open().eventLog };
  for (const { name, run } of eventLogContract(logs)) test(name, run);

  test('is released when a worker is gone, and its open calls reject', async () => {
    const { open: openWorker } = startWorkers();
    const [gone, other] = [openWorker(), openWorker()];
    const received: unknown[] = [];
    await gone.bus.subscribe('t', { message: (message) => received.push(message), gap: () => undefined });
    const first = await gone.eventLog.append('s.p1', 'begin');
    const followed = await gone.eventLog.follow(first, new AbortController().signal);
    const reading = (async () => {
      for await (const event of followed?.events ?? []) received.push(event);
    })();
    const open = gone.store?.get('a:b');
    gone.disconnect();
    await expect(open).rejects.toThrow('The primary process is gone');
    await expect(reading).rejects.toThrow('The primary process is gone');
    await expect(gone.ping()).rejects.toThrow('The primary process is gone');
    await other.bus.publish('t', { n: 1 });
    await other.ping();
    expect(received).toEqual([]);
  });
});
