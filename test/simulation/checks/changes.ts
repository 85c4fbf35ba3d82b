// The changes that the server announced, and those that each subscriber heard of.

import type { Actor } from '../world/scheduler.js';
import type { World } from '../world/world.js';
import type { Violate } from './invariants.js';

interface Change {
  readonly what: string;
  readonly at: number;
  readonly replica: Actor;
}

/** A subscriber with a stream, as a check needs it. */
export class Listener {
  readonly name: string;
  /** The changes that it subscribed to, and since when. */
  readonly since = new Map<string, number>();
  readonly #world: World;
  readonly #heard = new Map<string, number>();

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
  }

  /** From now on every change of this kind is reported. */
  listen(what: string): void {
    if (!this.since.has(what)) this.since.set(what, this.#world.scheduler.now);
  }

  onNotification(method: string, params: Readonly<Record<string, unknown>> = {}): void {
    const what = method === 'notifications/resources/updated' ? String(params['uri']) : method;
    this.#heard.set(what, this.#world.scheduler.now);
  }

  /** The subscriber has read everything itself. */
  hearAll(): void {
    for (const what of this.since.keys()) this.#heard.set(what, this.#world.scheduler.now);
  }

  hasHeard({ what, at }: Pick<Change, 'what' | 'at'>): boolean {
    const heardAt = this.#heard.get(what);
    return heardAt !== undefined && heardAt >= at;
  }
}

/** The tools have changed. */
export const TOOLS = 'notifications/tools/list_changed';
/** The resource that changes. */
export const RESOURCE = 'sim://resource';

/** All changes and all subscribers. */
export class Changes {
  readonly #world: World;
  readonly #violate: Violate;
  readonly #changes: Change[] = [];
  readonly #listeners: Listener[] = [];

  constructor(world: World, violate: Violate) {
    this.#world = world;
    this.#violate = violate;
  }

  onChange(replica: Actor, what: string): void {
    this.#world.note(() => `CHANGE ${what}`);
    this.#changes.push({ what, at: this.#world.scheduler.now, replica });
  }

  newListener(name: string): Listener {
    const listener = new Listener(this.#world, name);
    this.#listeners.push(listener);
    return listener;
  }

  /** Checks that everybody has heard of everything, some time after the last change. */
  check(): void {
    for (const listener of this.#listeners)
      for (const change of this.#changes) {
        const since = listener.since.get(change.what);
        // A process that died could not announce its change to others.
        if (since === undefined || since > change.at || change.replica.state === 'dead') continue;
        if (!listener.hasHeard(change))
          this.#violate(
            'change not heard',
            `${listener.name}: ${change.what} of ${change.replica.name} at ${change.at.toFixed(2)}`,
          );
      }
  }
}
