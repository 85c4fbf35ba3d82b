/** When a session was issued, and until when its id could be used. */
export interface SessionSpan {
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const MAX_ENDED = 100_000;

/**
 * The sessions that their clients ended, until their ids are too old to be used. Spec 2025-11-25, Session Management: an ended
 * session is never served again. So when there are too many to remember, the oldest half is forgotten together with every other
 * session of that age: their clients have to open new ones.
 */
export class EndedSessions {
  readonly #ended = new Map<string, SessionSpan>();
  readonly #max: number;
  #noneBefore = Number.NEGATIVE_INFINITY;

  constructor(max: number = MAX_ENDED) {
    this.#max = max;
  }

  has(id: string, { issuedAt }: SessionSpan): boolean {
    return issuedAt <= this.#noneBefore || this.#ended.has(signatureOf(id));
  }

  add(id: string, { issuedAt, expiresAt }: SessionSpan): void {
    this.#ended.set(signatureOf(id), { issuedAt, expiresAt });
    if (this.#ended.size > this.#max) this.#makeRoom();
  }

  #makeRoom(): void {
    const now = Date.now();
    for (const [key, { expiresAt }] of this.#ended) if (expiresAt <= now) this.#ended.delete(key);
    const oldestFirst = [...this.#ended].sort(([, a], [, b]) => a.issuedAt - b.issuedAt);
    for (const [key, { issuedAt }] of oldestFirst.slice(0, Math.max(0, this.#ended.size - this.#max / 2))) {
      this.#ended.delete(key);
      this.#noneBefore = issuedAt;
    }
  }
}

// The signature tells ids apart, and is shorter than what it signs.
function signatureOf(id: string): string {
  return id.slice(id.lastIndexOf('.') + 1);
}
