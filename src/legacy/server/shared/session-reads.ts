import { settlesWithin } from '../../../async/deadline.js';
import { unref } from '../../../async/unref.js';
import type { SessionFacts } from '../session-facts.js';
import type { DirectoryKey, SessionDirectory } from './session-directory.js';

const MAX_READ_MS = 2000;
const MAX_READS = 5;
/** The interval at which a store that is away is tried again. */
const LOOK_AGAIN_MS = 1000;

/** Reads the facts of sessions from the directory, and reads them again if a message or a change came meanwhile. */
export class SessionReads {
  readonly #directory: SessionDirectory;
  /** The sessions that are being read, with the number of readers and of news since then. */
  readonly #reading = new Map<string, { readers: number; news: number }>();
  #isAway = false;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(directory: SessionDirectory) {
    this.#directory = directory;
  }

  /** Whether the store has failed or taken too long, and has not replied since. Requests that can do without it should not wait. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** The facts of a session; undefined if it has ended. Rejects if the store fails or takes too long. */
  read(key: DirectoryKey): Promise<SessionFacts | undefined> {
    return this.#inTime(this.#read(key));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    try {
      if (!(await settlesWithin(work, MAX_READ_MS, { unref: true })))
        throw new Error(`The store did not respond within ${MAX_READ_MS} ms.`);
      const result = await work;
      this.#isAway = false;
      return result;
    } catch (error) {
      work.catch(() => undefined);
      this.#isAway = true;
      this.#lookAgain();
      throw error;
    }
  }

  // No request waits for the store meanwhile, so this process looks by itself whether it is back.
  #lookAgain(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    const look = (): Promise<unknown> => this.#inTime(this.#directory.reach()).catch(() => undefined);
    this.#timer = setTimeout(look, LOOK_AGAIN_MS);
    unref(this.#timer);
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
