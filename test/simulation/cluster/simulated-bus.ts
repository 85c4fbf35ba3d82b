// A bus that is late, loses messages, and says so later.

import type { Bus, BusListener } from 'fullmcp';
import type { Plant } from '../plants/plant.js';
import type { Actor } from '../world/scheduler.js';
import type { World } from '../world/world.js';
import type { Condition } from './condition.js';

interface Subscription {
  readonly topic: string;
  readonly listener: BusListener;
  readonly replica: Actor;
  readonly condition: Condition;
  /** Messages of a topic come in the order in which they were sent. */
  lastAt: number;
  hasMissed: boolean;
}

const GAP_MS = 2000;
const CONNECT_MS = 1000;

/** Carries messages between replicas. */
export class SimulatedBus {
  readonly #world: World;
  readonly #bug: Plant['bus'];
  readonly #subscriptions = new Set<Subscription>();

  constructor(world: World, bug: Plant['bus']) {
    this.#world = world;
    this.#bug = bug;
  }

  /** Connects a replica to the bus. */
  connect(replica: Actor, condition: Condition): Bus {
    const { scheduler, random } = this.#world;
    const own = new Set<Subscription>();
    const isCut = (): Promise<boolean> =>
      new Promise((resolve) => {
        const waits = condition.isBusCut ? random.between(10, CONNECT_MS) : condition.delay();
        const wasCut = condition.isBusCut;
        scheduler.after(waits, replica, () => resolve(wasCut));
      });
    return {
      publish: async (topic, message) => {
        this.#world.note(() => `bus: ${topic} ${JSON.stringify(message)}`);
        if (!condition.isBusCut) this.#send(topic, JSON.stringify(message));
        if (await isCut()) throw new Error('The bus is not connected');
      },
      subscribe: async (topic, listener) => {
        if (await isCut()) throw new Error('The bus is not connected');
        const subscription = { topic, listener, replica, condition, lastAt: 0, hasMissed: false };
        this.#subscriptions.add(subscription);
        own.add(subscription);
        return () => void this.#subscriptions.delete(subscription);
      },
      close: async () => {
        for (const subscription of own) this.#subscriptions.delete(subscription);
        if (this.#bug === 'no end') await new Promise(() => undefined);
      },
    };
  }

  #send(topic: string, json: string): void {
    // The name of a topic may end with the name of the server.
    if (this.#bug === `no ${topic.split(':')[0]}`) return;
    const { scheduler, settings } = this.#world;
    for (const subscription of this.#subscriptions) {
      if (subscription.topic !== topic || subscription.replica.state === 'dead') continue;
      const { condition, replica, listener } = subscription;
      if (condition.isBusCut || this.#world.fails(settings.losses.busMessage)) {
        this.#miss(subscription);
        continue;
      }
      subscription.lastAt = Math.max(subscription.lastAt, scheduler.now + condition.delay());
      scheduler.after(subscription.lastAt - scheduler.now, replica, () => {
        if (this.#subscriptions.has(subscription)) listener.message(this.#parse(json));
      });
    }
  }

  #parse(json: string) {
    return this.#bug === 'broken messages' && this.#world.random.chance(0.1) ? null : JSON.parse(json);
  }

  /** Says later that something was missed, once nothing is missed any more. */
  #miss(subscription: Subscription): void {
    if (subscription.hasMissed || this.#bug === 'no gaps') return;
    subscription.hasMissed = true;
    const { scheduler, random, fate } = this.#world;
    const report = (): void => {
      if (subscription.condition.isBusCut) return void scheduler.after(GAP_MS, fate, report);
      subscription.hasMissed = false;
      scheduler.after(0, subscription.replica, () => {
        this.#world.note(() => `bus: gap in ${subscription.topic}`);
        if (this.#subscriptions.has(subscription)) subscription.listener.gap();
      });
    };
    scheduler.after(random.between(1, GAP_MS), fate, report);
  }
}
