import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';

// Files that several processes replace without losing a write: each version is a file of its own, whose name has its number, and
// only one process can create the file of the next number. A number must not be free again while a process may still try to take it, so
// that older versions are emptied, and deleted only when many newer ones exist.

/** One version of a file. */
export interface Generation {
  readonly number: number;
  readonly content: Buffer;
}

/** An abandoned temporary file is deleted after this time. */
const ABANDONED_MS = 60_000;
const MAX_ATTEMPTS = 100;
/** The number of older versions whose names are kept. */
const KEPT_NAMES = 64;

/** The versions of one file, in a folder of its own or shared with other names. */
export class Generations {
  readonly #folder: string;
  readonly #name: string;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  /** The newest version; undefined if there is none. */
  async latest(): Promise<Generation | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const number = await this.#newest();
      if (number === 0) return undefined;
      const content = await unlessMissing(readFile(this.#path(number)));
      // A file may be emptied while it is read, if there is a newer one since then.
      if (content !== undefined && (await this.#newest()) === number) return { number, content };
    }
    throw new Error(`The files in ${this.#folder} change too fast to be read.`);
  }

  /** Writes the version after `number`. False if another process did so first. */
  async advance(number: number, content: string | Uint8Array): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const temporary = join(this.#folder, `tmp-${Date.now()}-${randomBytes(6).toString('hex')}`);
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      // A refresh token that is lost in a crash cannot be asked for again.
      await file.sync();
    } finally {
      await file.close();
    }
    try {
      if ((await this.#newest()) > number) return false;
      // Unlike a rename, a link fails if the name exists, and the file is complete from the beginning.
      await link(temporary, this.#path(number + 1));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await unlessMissing(unlink(temporary));
    }
    await this.#emptyOlder(number + 1);
    return true;
  }

  async #emptyOlder(newest: number): Promise<void> {
    const older = (await this.#numbers()).filter((number) => number < newest);
    const abandoned = (await this.#files()).filter((file) => {
      const [, since] = /^tmp-(\d+)-/.exec(file) ?? [];
      return since !== undefined && Date.now() - Number(since) > ABANDONED_MS;
    });
    await Promise.all([
      ...older.map((number) => {
        const path = this.#path(number);
        return unlessMissing(number < newest - KEPT_NAMES ? unlink(path) : truncate(path));
      }),
      ...abandoned.map((file) => unlessMissing(unlink(join(this.#folder, file)))),
    ]);
  }

  /** The number of the newest version; 0 if there is none. */
  async #newest(): Promise<number> {
    return Math.max(0, ...(await this.#numbers()));
  }

  async #numbers(): Promise<number[]> {
    const prefix = `${this.#name}.`;
    return (await this.#files())
      .filter((file) => file.startsWith(prefix) && /^[1-9]\d*$/.test(file.slice(prefix.length)))
      .map((file) => Number(file.slice(prefix.length)))
      .filter((number) => Number.isSafeInteger(number + 1));
  }

  async #files(): Promise<string[]> {
    return (await unlessMissing(readdir(this.#folder))) ?? [];
  }

  #path(number: number): string {
    return join(this.#folder, `${this.#name}.${number}`);
  }
}

async function unlessMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
