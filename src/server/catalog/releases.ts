// Tells subscribed clients that lists may have changed, while processes with different definitions serve side by side.

import { settlesWithin } from '../../async/deadline.js';
import { digestOf } from '../../protocol/canonical.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import type { Topic } from '../../state/topic.js';
import type { Guarded } from '../access/views.js';
import type { Registry } from './registry.js';

/** The lists of a process that starts or ends, as digests. */
export interface ReleaseAnnouncement {
  readonly tools: string;
  readonly prompts: string;
  readonly resources: string;
}

const kinds = ['tools', 'prompts', 'resources'] as const;
const CLOSE_MS = 1000;

/**
 * Announces the lists of this process when it starts and when it ends. A process whose lists are different tells its clients: until
 * now, or from now on, they may get another list from another process.
 */
export class Releases {
  readonly #registry: Registry;
  readonly #topic: Topic<ReleaseAnnouncement>;

  constructor(registry: Registry, topic: Topic<ReleaseAnnouncement>) {
    this.#registry = registry;
    this.#topic = topic;
    topic.subscribe({ message: (other) => void this.#compare(other), gap: () => undefined });
  }

  /** Announces the lists of this process, from now on. */
  async start(): Promise<void> {
    const subscribing = this.#topic.ready();
    if (subscribing === undefined) return;
    await subscribing;
    await this.#announce();
  }

  /** Announces that the lists of this process are not served any more. */
  async close(): Promise<void> {
    if (this.#topic.isSubscribed) await settlesWithin(this.#announce(), CLOSE_MS);
  }

  async #announce(): Promise<void> {
    await this.#topic.publish(await this.#lists());
  }

  async #compare(other: ReleaseAnnouncement): Promise<void> {
    const own = await this.#lists();
    for (const kind of kinds)
      if (own[kind] !== other[kind] && this.#registry.announces(kind))
        this.#registry.changes.notify({ kind });
  }

  async #lists(): Promise<ReleaseAnnouncement> {
    const { tools, prompts, resources, templates } = this.#registry;
    // The scopes of a definition decide who sees it.
    const listed = (entries: Iterable<Guarded & { readonly listed: object }>): object[] =>
      Array.from(entries, ({ listed: definition, access }) =>
        access === undefined ? definition : [definition, access.scopes],
      );
    const digest = async (...lists: readonly object[][]): Promise<string> =>
      encodeBase64Url(await digestOf(JSON.stringify(lists)));
    return {
      tools: await digest(listed(tools.versions())),
      prompts: await digest(listed(prompts.values())),
      resources: await digest(listed(resources.values()), listed(templates.values())),
    };
  }
}
