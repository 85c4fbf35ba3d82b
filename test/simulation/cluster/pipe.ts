// One connection of a client to a replica.

import type { Actor, Event } from '../world/scheduler.js';
import type { World } from '../world/world.js';
import type { Connection, Replica } from './replica.js';

/** The ends of a connection. */
export interface PipeEnds {
  readonly client: Actor;
  readonly replica: Replica;
}

/** The events of a connection. */
export interface PipeEvents {
  /** The request has arrived at the replica. */
  readonly serve: () => void;
  /** The replica learns that the client is gone, or closes its connections. */
  readonly gone: (why: string) => void;
  /** The client learns that nothing comes any more. */
  readonly lost: (why: string) => void;
}

/** The longest time until a client notices that its connection is broken. */
const BREAK_MS = 3000;

/** A connection for one request and its reply. Its messages arrive in order, late, or not at all. */
export class Pipe implements Connection {
  readonly #world: World;
  readonly #ends: PipeEnds;
  readonly #events: PipeEvents;
  #isOver = false;
  #isBroken = false;
  #timer: Event | undefined;
  #lastAt = 0;

  constructor(world: World, ends: PipeEnds, events: PipeEvents) {
    this.#world = world;
    this.#ends = ends;
    this.#events = events;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends the request. The client gives up after `timeoutMs`. */
  open(timeoutMs: number): void {
    const { scheduler, settings } = this.#world;
    const { client, replica } = this.#ends;
    this.#timer = scheduler.after(timeoutMs, client, () => this.giveUp('timed out'), true);
    replica.connections.add(this);
    if (replica.condition.isNetworkCut || this.#world.fails(settings.losses.request)) return this.break();
    scheduler.after(replica.condition.delay(), replica.actor, this.#events.serve);
  }

  /** Breaks the connection: nothing comes any more, and the client notices that later. */
  break(): void {
    if (this.#isBroken || this.#isOver) return;
    this.#isBroken = true;
    const { scheduler, random } = this.#world;
    scheduler.after(random.between(1, BREAK_MS), this.#ends.client, () =>
      this.giveUp('the connection broke'),
    );
  }

  /** The replica closes the connection. */
  abort(): void {
    this.#events.gone('The server is shutting down');
    this.break();
  }

  /** Lets something happen to the client. */
  toClient(run: () => void): void {
    const { scheduler, settings } = this.#world;
    const { client, replica } = this.#ends;
    if (this.#isBroken || this.#isOver) return;
    if (replica.condition.isNetworkCut || this.#world.fails(settings.losses.reply)) return this.break();
    this.#lastAt = Math.max(this.#lastAt, scheduler.now + replica.condition.delay());
    scheduler.after(this.#lastAt - scheduler.now, client, () => {
      if (!this.#isOver) run();
    });
  }

  /** The client closes the connection. The replica learns of it, unless it is cut off. */
  giveUp(lost: string): void {
    if (this.#isOver) return;
    this.end();
    const { scheduler } = this.#world;
    const { replica } = this.#ends;
    if (!replica.condition.isNetworkCut)
      scheduler.after(replica.condition.delay(), replica.actor, () =>
        this.#events.gone('The client disconnected'),
      );
    this.#events.lost(lost);
  }

  /** The reply is complete. */
  end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#ends.replica.connections.delete(this);
  }
}
