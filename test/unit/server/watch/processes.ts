import type { ResourceMatch } from '../../../../src/server/catalog/registry.js';
import { Watches } from '../../../../src/server/watch/watches.js';
import type { Bus } from '../../../../src/state/bus.js';
import type { Store } from '../../../../src/state/store.js';

// Processes that watch resources, and a record of what their hooks did.

type Hook = (process: string, uri: string, signal: AbortSignal) => unknown;

export interface Recorder {
  readonly id: string;
  /** The calls of the hooks of all processes, in order: `A starts x://1`. */
  readonly events: string[];
  /** The processes that watch each URI now. */
  readonly watching: Map<string, Set<string>>;
  /** The largest number of processes that watched one URI at the same time. */
  most: number;
  readonly messages: string[];
  readonly announced: string[];
  onSubscribe: Hook;
  onUnsubscribe: Hook;
}

export function recorder(): Recorder {
  return {
    ...{ id: crypto.randomUUID(), events: [], watching: new Map(), most: 0, messages: [], announced: [] },
    ...{ onSubscribe: () => undefined, onUnsubscribe: () => undefined },
  };
}

export interface WatchingProcess {
  readonly subscribe: (uri: string) => () => void;
  readonly close: () => Promise<void>;
}

interface ProcessOptions {
  readonly store: Store;
  /** Undefined: the process is the only one. */
  readonly bus?: Bus | undefined;
  readonly leaseMs?: number;
}

/** Starts what one process of a server has. */
export function startProcess(
  name: string,
  record: Recorder,
  { store, bus, leaseMs = 1500 }: ProcessOptions,
): WatchingProcess {
  const changed = { resource: (uri: string) => void record.announced.push(`${name} ${uri}`) };
  const watches = new Watches({
    shared: { server: 'test', store, bus: () => bus, eventLog: () => undefined },
    changed: changed as never,
    log: (_, message) => void record.messages.push(message),
    state: async () => 'state',
    leaseMs,
  });
  const hooks = {
    async onSubscribe(_: object, { uri, signal }: { uri: string; signal: AbortSignal }) {
      await record.onSubscribe(name, uri, signal);
      // The server does not wait for a hook that it has aborted, and does not end what that hook starts later.
      signal.throwIfAborted();
      record.events.push(`${name} starts ${uri}`);
      const processes = record.watching.get(uri) ?? new Set();
      record.watching.set(uri, processes.add(name));
      record.most = Math.max(record.most, processes.size);
    },
    async onUnsubscribe(_: object, { uri, signal }: { uri: string; signal: AbortSignal }) {
      record.events.push(`${name} stops ${uri}`);
      await record.onUnsubscribe(name, uri, signal);
      record.watching.get(uri)?.delete(name);
    },
  };
  return {
    subscribe: (uri) => watches.add({ uri, values: {}, source: { hooks } } as unknown as ResourceMatch),
    close: () => watches.close(),
  };
}
