// The file that keeps the ids of tasks, so that a later visit finds them again. It has no arguments, results or secrets in it.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import { BoundedMap } from '../../async/bounded-map.js';
import { Turns } from '../../async/turns.js';
import { isObject } from '../../jsonrpc/message.js';
import type { KnownTask } from './connection/known-tasks.js';

const MAX_SERVERS = 100;
const MAX_FILE = 1_000_000;
/** Servers forget tasks after a while. */
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;

export class TaskFile {
  readonly #path: string | undefined;
  #tasks: Promise<BoundedMap<string, readonly KnownTask[]>> | undefined;
  readonly #writing = new Turns();

  /** Without a path, everything is kept in memory. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** The tasks of a server, by its address. */
  async of(address: string): Promise<readonly KnownTask[]> {
    this.#tasks ??= this.#read();
    return (await this.#tasks).get(address) ?? [];
  }

  /** Keeps the tasks of a server. A file that cannot be written is not a failure of the call. */
  async keep(address: string, tasks: readonly KnownTask[]): Promise<void> {
    this.#tasks ??= this.#read();
    const all = await this.#tasks;
    all.set(address, tasks);
    await this.#writing.take(() => this.#write(all)).catch(() => undefined);
  }

  async #read(): Promise<BoundedMap<string, readonly KnownTask[]>> {
    const read = new BoundedMap<string, readonly KnownTask[]>(MAX_SERVERS);
    if (this.#path === undefined) return read;
    try {
      const text = await readFile(this.#path, 'utf8');
      const value: unknown = text.length > MAX_FILE ? {} : JSON.parse(text);
      const servers = isObject(value) && isObject(value['servers']) ? value['servers'] : {};
      for (const [address, tasks] of Object.entries(servers)) read.set(address, readTasks(tasks));
    } catch {
      // A file that cannot be read counts as empty.
    }
    return read;
  }

  async #write(all: ReadonlyMap<string, readonly KnownTask[]>): Promise<void> {
    if (this.#path === undefined) return;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const temporary = `${this.#path}.${process.pid}`;
    await writeFile(temporary, JSON.stringify({ version: 1, servers: Object.fromEntries(all) }), {
      mode: 0o600,
    });
    await rename(temporary, this.#path);
  }
}

function readTasks(value: unknown): readonly KnownTask[] {
  if (!Array.isArray(value)) return [];
  return value.slice(-200).filter(isTask);
}

function isTask(value: unknown): value is KnownTask {
  if (!isObject(value)) return false;
  const { id, tool, at } = value;
  return (
    typeof id === 'string' &&
    typeof tool === 'string' &&
    typeof at === 'number' &&
    at > Date.now() - MAX_AGE_MS
  );
}
