// The followers of one stream in this process, and the subscription that they share.

import type { NatsClient } from '../connection/client.js';
import type { NatsSubscription } from '../connection/nats-types.js';
import { DROPPED, readLive } from './event-headers.js';
import type { Follower } from './follower.js';

/** Hands the new events of a stream to its followers. Unsubscribes when nobody needs it any more. */
export class StreamWatch {
  readonly #client: NatsClient;
  readonly #subscription: NatsSubscription;
  readonly #onUnused: () => void;
  readonly #followers = new Set<Follower>();
  /** Those that follow, and those that are about to. */
  #users = 0;
  #refusal: Error | undefined;
  #standing: Promise<void> | undefined;

  constructor(client: NatsClient, subject: string, onUnused: () => void) {
    this.#client = client;
    this.#onUnused = onUnused;
    this.#subscription = client.nc.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) {
          this.#refusal = error;
          return;
        }
        if (message.headers?.has(DROPPED)) return this.end();
        const event = readLive(message.headers, message.data);
        if (event !== undefined) for (const follower of this.#followers) follower.offer(event);
      },
    });
  }

  /** Resolves when no new event is missed any more. */
  stands(): Promise<void> {
    const what = 'The stream cannot be followed';
    this.#standing ??= this.#client
      .persist(what, () => this.#client.flush())
      .then(() => {
        if (this.#refusal !== undefined) throw this.#client.failure(what, this.#refusal);
      });
    return this.#standing;
  }

  retain(): void {
    this.#users++;
  }

  release(): void {
    if (--this.#users > 0) return;
    this.#subscription.unsubscribe();
    this.#onUnused();
  }

  /** Adds a follower, which takes over a place that was retained. */
  add(follower: Follower): void {
    this.#followers.add(follower);
  }

  remove(follower: Follower): void {
    if (this.#followers.delete(follower)) this.release();
  }

  /** Lets every follower look for events that it missed. */
  recheck(): void {
    for (const follower of this.#followers) follower.recheck();
  }

  /**
   * Does the same after a reconnect, once the newest sequence of the log is known. If the log has fewer events than were read before
   * it was asked, the followers fail.
   */
  recheckLater(): (lastSeq: number) => void {
    const positions = [...this.#followers].map((follower) => ({ follower, position: follower.position }));
    return (lastSeq) => {
      for (const { follower, position } of positions) {
        if (position <= lastSeq) follower.recheck();
        else
          follower.events.end(
            new Error('NATS has lost events of the log. Resume the stream to learn of the gap.'),
          );
      }
    };
  }

  /** Ends all followers: the stream was dropped, or the log is closed. */
  end(): void {
    for (const follower of [...this.#followers]) follower.events.end();
  }
}
