/** The time in which a session's id is valid. */
export interface SessionSpan {
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const MAX_ENDED = 100_000;

/**
 * The sessions that their clients ended, until their ids expire. Spec 2025-11-25, Session Management: an ended session is never
 * served again. If there are too many to remember, the oldest half is removed, and every session issued before that time counts as
 * ended: its client has to open a new one.
 */
export class EndedSessions {
  readonly #ended = new Map<string, SessionSpan>();
  readonly #max: number;
  #validAfter = Number.NEGATIVE_INFINITY;

  constructor(max: number = MAX_ENDED) {
    this.#max = max;
  }

  has(id: string, { issuedAt }: SessionSpan): boolean {
    return issuedAt <= this.#validAfter || this.#ended.has(id);
  }

  add(id: string, { issuedAt, expiresAt }: SessionSpan): void {
    this.#ended.set(id, { issuedAt, expiresAt });
    if (this.#ended.size > this.#max) this.#makeRoom();
  }

  #makeRoom(): void {
    const now = Date.now();
    for (const [key, { expiresAt }] of this.#ended) if (expiresAt <= now) this.#ended.delete(key);
    const oldestFirst = [...this.#ended].sort(([, a], [, b]) => a.issuedAt - b.issuedAt);
    for (const [key, { issuedAt }] of oldestFirst.slice(0, Math.max(0, this.#ended.size - this.#max / 2))) {
      this.#ended.delete(key);
      this.#validAfter = issuedAt;
    }
  }
}
