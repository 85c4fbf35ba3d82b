// A client that watches the tasks of another client of the same caller, or listens to changes.

import { type Listener, RESOURCE, TOOLS } from '../checks/changes.js';
import type { Actor } from '../world/scheduler.js';
import type { Client } from './client.js';

/** A subscription that was acknowledged. */
export interface WatchedStream {
  readonly replica: Actor;
  readonly taskIds: readonly string[];
  readonly since: number;
  /** The tasks whose end was reported. */
  readonly heard: Set<string>;
  isOpen: boolean;
}

const RELISTEN_MS = 200;
const FOREVER_MS = 100_000_000;

/** Watches tasks, and listens to changes. When the stream breaks, it subscribes again. */
export class Watcher {
  readonly streams: WatchedStream[] = [];
  readonly #client: Client;
  readonly #changes: Listener;

  constructor(client: Client) {
    this.#client = client;
    this.#changes = client.ledger.changes.newListener(client.actor.name);
  }

  async watch(taskIds: readonly string[]): Promise<never> {
    for (;;) {
      await this.#listen(taskIds);
      await this.#client.world.sleep(RELISTEN_MS);
    }
  }

  async #listen(taskIds: readonly string[]): Promise<void> {
    const { world } = this.#client;
    let replica: Actor | undefined;
    let stream: WatchedStream | undefined;
    await this.#client.call(
      'subscriptions/listen',
      {
        notifications: {
          ...(taskIds.length > 0 && { taskIds }),
          toolsListChanged: true,
          resourceSubscriptions: [RESOURCE],
        },
      },
      {
        timeoutMs: FOREVER_MS,
        onSent: (actor) => {
          replica = actor;
        },
        onNotification: (method, params) => {
          if (method === 'notifications/subscriptions/acknowledged') {
            const granted = (params['notifications'] as { taskIds?: string[] }).taskIds ?? [];
            const since = world.scheduler.now;
            stream = { replica: replica as Actor, taskIds: granted, since, heard: new Set(), isOpen: true };
            this.streams.push(stream);
            // A client reads everything again when it has subscribed.
            this.#changes.listen(TOOLS);
            this.#changes.listen(RESOURCE);
            this.#changes.hearAll();
          } else this.#changes.onNotification(method, params);
          const { taskId, status } = params as { taskId?: string; status?: string };
          if (method !== 'notifications/tasks' || taskId === undefined) return;
          if (status !== 'working' && status !== 'input_required') stream?.heard.add(taskId);
        },
      },
    );
    if (stream !== undefined) stream.isOpen = false;
  }
}
