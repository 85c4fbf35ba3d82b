// Waits for the end of a keyed call, in whatever process it runs.

import type { Lifetime } from '../../async/lifetime.js';
import type { Topic, TopicListener } from '../../state/topic.js';

/** A keyed call that has ended. */
export interface OutcomeAnnouncement {
  readonly key: string;
}

/** The longest time until a waiting call looks again, because announcements may be lost. */
const WAIT_MS = 1000;

/** Watches for the end of a keyed call, from its construction on. */
export class EndWatch implements TopicListener<OutcomeAnnouncement> {
  readonly #outcomes: Topic<OutcomeAnnouncement>;
  readonly #key: string;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  constructor(outcomes: Topic<OutcomeAnnouncement>, key: string) {
    this.#outcomes = outcomes;
    this.#key = key;
    outcomes.subscribe(this);
    void outcomes.ready();
  }

  message({ key }: OutcomeAnnouncement): void {
    if (key === this.#key) this.gap();
  }

  gap(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  /** Resolves when the call may have ended, or the lifetime has. */
  async next(lifetime: Lifetime): Promise<void> {
    if (this.#hasEnded || lifetime.ended) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let unfollow: (() => void) | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, WAIT_MS);
      unfollow = lifetime.onEnd(resolve);
    });
    clearTimeout(timer);
    unfollow?.();
  }

  close(): void {
    this.#outcomes.unsubscribe(this);
  }
}
