import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';

// Files that several processes replace without losing a write: each version is a file of its own, whose name has its number, and
// only one process can create the file of the next number.

/** One version of a file. */
export interface Generation {
  readonly number: number;
  readonly content: Buffer;
}

/** An abandoned temporary file is deleted after this time. */
const ABANDONED_MS = 60_000;
const MAX_ATTEMPTS = 100;

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
      const number = Math.max(0, ...(await this.#numbers()));
      if (number === 0) return undefined;
      const content = await unlessMissing(readFile(this.#path(number)));
      // A missing file was replaced by a newer one since the folder was read.
      if (content !== undefined) return { number, content };
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
      // Unlike a rename, a link fails if the name exists, and the file is complete from the beginning.
      await link(temporary, this.#path(number + 1));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await unlessMissing(unlink(temporary));
    }
    await this.#deleteOlder(number + 1);
    return true;
  }

  async #deleteOlder(newest: number): Promise<void> {
    const old = (await this.#numbers())
      .filter((number) => number < newest)
      .map((number) => this.#path(number));
    const abandoned = (await this.#files()).filter((file) => {
      const [, since] = /^tmp-(\d+)-/.exec(file) ?? [];
      return since !== undefined && Date.now() - Number(since) > ABANDONED_MS;
    });
    const paths = [...old, ...abandoned.map((file) => join(this.#folder, file))];
    await Promise.all(paths.map((path) => unlessMissing(unlink(path))));
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
