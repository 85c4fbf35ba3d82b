import { settlesWithin } from '../../../async/deadline.js';
import type { SessionFacts } from '../session-facts.js';
import type { DirectoryKey, SessionDirectory } from './session-directory.js';

const MAX_READ_MS = 2000;
const MAX_READS = 5;

/** Reads the facts of sessions from the directory, and reads them again if a message or a change came meanwhile. */
export class SessionReads {
  readonly #directory: SessionDirectory;
  /** The sessions that are being read, with the number of readers and of news since then. */
  readonly #reading = new Map<string, { readers: number; news: number }>();
  #reads = 0;
  #isAway = false;

  constructor(directory: SessionDirectory) {
    this.#directory = directory;
  }

  /** Whether the last read has failed or taken too long. Requests that can do without the facts should not wait for the next one. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Whether a read is under way. While the store is away, one at a time is enough to learn that it is back. */
  get isReading(): boolean {
    return this.#reads > 0;
  }

  /** The facts of a session; undefined if it has ended. Rejects if the store fails or takes too long. */
  async read(key: DirectoryKey): Promise<SessionFacts | undefined> {
    this.#reads++;
    const work = this.#read(key);
    try {
      if (!(await settlesWithin(work, MAX_READ_MS, { unref: true })))
        throw new Error(`The store did not respond within ${MAX_READ_MS} ms.`);
      const facts = await work;
      this.#isAway = false;
      return facts;
    } catch (error) {
      work.catch(() => undefined);
      this.#isAway = true;
      throw error;
    } finally {
      this.#reads--;
    }
  }

  /** Notes that the facts of a session have changed. Default: of all sessions. */
  noteNews(tag?: string): void {
    const readings = tag === undefined ? this.#reading.values() : [this.#reading.get(tag)];
    for (const reading of readings) if (reading !== undefined) reading.news++;
  }

  async #read(key: DirectoryKey): Promise<SessionFacts | undefined> {
    // From now on this process hears when another one ends the session.
    const subscribing = this.#directory.topic.ready();
    if (subscribing !== undefined) await settlesWithin(subscribing, MAX_READ_MS, { unref: true });
    const reading = this.#reading.get(key.tag) ?? { readers: 0, news: 0 };
    this.#reading.set(key.tag, reading);
    reading.readers++;
    try {
      for (let attempt = 1; ; attempt++) {
        const { news } = reading;
        const facts = await this.#directory.recall(key);
        if (reading.news === news || attempt === MAX_READS) return facts;
      }
    } finally {
      if (--reading.readers === 0) this.#reading.delete(key.tag);
    }
  }
}
