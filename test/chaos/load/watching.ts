import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../support/until.js';
import { type ClientEvents, connectClient, eventually, type LoadClient } from './clients.js';

// Topics that change, and clients that subscribe to them. Each change must be known to all subscribers before the next one.

/** Something that changes: the contents of a resource, or the list of resources. */
export interface WatchedTopic {
  readonly name: string;
  readonly kind: 'resource' | 'list';
}

export interface WatchingOptions extends ClientEvents {
  readonly url: string;
  readonly topic: WatchedTopic;
  readonly onFailure: (error: unknown) => void;
  readonly isStopped: () => boolean;
}

/** A client that reads a topic whenever it is told that the topic may have changed. */
interface Watcher {
  /** The newest version that the client has read. */
  readonly known: () => number;
  readonly describe: () => string;
  readonly close: () => Promise<void>;
}

/** One subscriber of each caller and of each revision. */
const SUBSCRIBERS = 8;
const PATIENCE_MS = 90_000;
const BETWEEN_MS = 50;

/** Changes a topic until the load stops. After each change, the subscribers have 90 s to read it, whatever happens meanwhile. */
export async function watchTopic(options: WatchingOptions): Promise<void> {
  const { url, topic, saw, onFailure, isStopped } = options;
  const watchers = await Promise.all(Array.from({ length: SUBSCRIBERS }, (_, n) => startWatcher(options, n)));
  const publisher = await connectClient(url, 0, options);
  try {
    while (!isStopped()) {
      await delay(Math.random() * BETWEEN_MS);
      const version = await change(publisher, topic).catch(onFailure);
      // If the call failed, it is not known whether the change was announced.
      if (version === undefined) continue;
      saw({ saw: 'announced', topic: topic.name, version });
      const knowAll = (): boolean => watchers.every(({ known }) => known() >= version);
      await until('all subscribers know the version', knowAll, PATIENCE_MS).catch((error) => {
        for (const { describe } of watchers) options.onProblem(`${error}: ${describe()}`);
      });
    }
  } finally {
    await Promise.all([publisher.client.close(), ...watchers.map(({ close }) => close())]);
  }
}

async function change({ client }: LoadClient, { name, kind }: WatchedTopic): Promise<number> {
  const limits = { timeoutMs: 30_000, maxTimeoutMs: 30_000 };
  const { data } = await (kind === 'list'
    ? client.callTool('add', {}, limits)
    : client.callTool('write', { topic: name }, limits));
  return (data as { readonly version: number }).version;
}

async function startWatcher(options: WatchingOptions, n: number): Promise<Watcher> {
  const { url, topic, saw } = options;
  const reader = await connectClient(url, n, options);
  const { client, name } = reader;
  let known = 0;
  let isClosed = false;
  let wake: (() => void) | undefined;
  let mustRead = true;
  const onChange = (): void => {
    mustRead = true;
    wake?.();
  };
  const to = topic.kind === 'list' ? { resources: true } : { uris: [`board://${topic.name}`] };
  await eventually(() => client.subscribe(to, { onChange }));
  saw({ saw: 'subscribed', topic: topic.name, client: name });
  const reading = (async () => {
    while (!isClosed) {
      if (!mustRead)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      mustRead = false;
      if (isClosed) return;
      const version = await eventually(() => read(reader, topic)).catch(() => 0);
      known = Math.max(known, version);
      saw({ saw: 'read', topic: topic.name, client: name, version });
    }
  })();
  return {
    known: () => known,
    describe: () => `${name} has ${topic.name} ${known} ${JSON.stringify([client.info(), client.pending()])}`,
    async close() {
      isClosed = true;
      wake?.();
      await client.close();
      await reading;
    },
  };
}

// Without `fresh`: a change must also remove what the client has cached.
async function read({ client }: LoadClient, { name, kind }: WatchedTopic): Promise<number> {
  if (kind === 'list')
    return (await client.resources().all()).filter(({ uri }) => uri.startsWith('note://')).length;
  const { text } = await client.readResource(`board://${name}`);
  return (JSON.parse(text ?? '{}') as { readonly version: number }).version;
}
