// Simulated time: every event belongs to an actor, and the next one runs when nothing of the last one is left to do.

import process from 'node:process';
import type { Random } from './random.js';

/** A process of the simulation: a replica, a client, the store. */
export interface Actor {
  readonly name: string;
  /** The difference between the actor's wall clock and simulated time. */
  skewMs: number;
  /** `paused`: its events wait until it is resumed. `dead`: its events never take place. */
  state: 'running' | 'paused' | 'dead';
  /** Whether it was paused for so long that others may have taken over its work. */
  mayBeDeposed: boolean;
  /** The events that came while the actor was paused. */
  readonly waiting: Event[];
}

/** Something that an actor does at a time. */
export class Event {
  at: number;
  readonly actor: Actor;
  /** Whether the actor set a timer for it. Otherwise it comes from outside. */
  readonly isTimer: boolean;
  /** Undefined after the event has taken place or was cancelled. */
  run: (() => void) | undefined;
  order = 0;

  constructor(at: number, actor: Actor, isTimer: boolean, run: () => void) {
    this.at = at;
    this.actor = actor;
    this.isTimer = isTimer;
    this.run = run;
  }

  cancel(): void {
    this.run = undefined;
  }
}

/** Makes an actor that runs. */
export function newActor(name: string): Actor {
  return { name, skewMs: 0, state: 'running', mayBeDeposed: false, waiting: [] };
}

const settled = Promise.resolve();

/** Runs the events of a simulation one after the other. */
export class Scheduler {
  /** Simulated time, in milliseconds. */
  now = 0;
  /** The actor whose event takes place. */
  current: Actor = newActor('world');
  /** The number of events that took place. */
  count = 0;
  readonly #random: Random;
  readonly #heap: Event[] = [];
  #order = 0;
  #isStopped = false;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Lets something happen to an actor after `ms`. */
  after(ms: number, actor: Actor, run: () => void, isTimer = false): Event {
    const event = new Event(this.now + ms, actor, isTimer, run);
    this.#push(event);
    return event;
  }

  pause(actor: Actor): void {
    if (actor.state === 'running') actor.state = 'paused';
  }

  /** Lets an actor continue. Everything that came meanwhile comes now: timers first, messages first, or in the order of their times. */
  resume(actor: Actor): void {
    if (actor.state !== 'paused') return;
    actor.state = 'running';
    const waiting = actor.waiting.splice(0);
    const first = this.#random.pick([undefined, true, false]);
    const ordered =
      first === undefined
        ? waiting
        : [
            ...waiting.filter(({ isTimer }) => isTimer === first),
            ...waiting.filter(({ isTimer }) => isTimer !== first),
          ];
    for (const event of ordered) {
      event.at = this.now;
      this.#push(event);
    }
  }

  kill(actor: Actor): void {
    actor.state = 'dead';
    actor.waiting.length = 0;
  }

  /** Runs events until `stop` is called, or there are none. */
  run(): Promise<void> {
    this.#isStopped = false;
    return new Promise((resolve, reject) => {
      const step = (): void => {
        const event = this.#isStopped ? undefined : this.#pop();
        if (event === undefined) return resolve();
        try {
          this.#take(event);
        } catch (error) {
          return reject(error);
        }
        // A tick that a microtask requests comes after all microtasks.
        settled.then(next);
      };
      const next = (): void => process.nextTick(step);
      step();
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  #take(event: Event): void {
    const { actor, run } = event;
    this.now = Math.max(this.now, event.at);
    if (actor.state === 'paused') return void actor.waiting.push(event);
    event.run = undefined;
    this.current = actor;
    this.count++;
    run?.();
  }

  #push(event: Event): void {
    event.order = ++this.#order;
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Event;
      if (isBefore(above, event)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  /** Takes out the next event that can still take place. */
  #pop(): Event | undefined {
    for (;;) {
      const first = this.#heap[0];
      const last = this.#heap.pop();
      if (first === undefined || last === undefined) return undefined;
      if (first !== last) this.#sink(last);
      if (first.run !== undefined && first.actor.state !== 'dead') return first;
    }
  }

  #sink(event: Event): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++;
      const below = heap[child] as Event;
      if (isBefore(event, below)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = event;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
