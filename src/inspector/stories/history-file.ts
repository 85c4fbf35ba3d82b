// The file that keeps the calls of a project for later visits: one for all inspectors of the project, replaced as a whole, within bounds.

import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitForLock } from '../../adapters/node/files/file-lock.js';
import { Turns } from '../../async/turns.js';
import { isObject } from '../../jsonrpc/message.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import { McpError } from '../../protocol/errors.js';
import { type KeptRun, readRun } from './kept-run.js';

const NAME = 'history.ndjson';
/** The number of the format. */
const FORMAT = 1;
const HEADER = JSON.stringify({ fullmcp: 'history', version: FORMAT });

const MAX_RUNS = 500;
const MAX_FILE = 4 * 1024 * 1024;
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;
/** Files that were put aside: older ones are deleted. */
const MAX_ASIDE = 3;
/** Another inspector that writes is done sooner, even on a slow disk. */
const WAIT_MS = 20_000;
/** The lock of a process that hangs ends after this time. */
const LOCK_MS = 30_000;

interface HistoryText {
  /** The lines of runs, oldest first. */
  readonly lines: readonly string[];
  /** Why the file cannot be used, as the end of a sentence. */
  readonly problem?: string;
}

export class HistoryFile {
  readonly #folder: string | undefined;
  readonly #onNotice: (sentence: string) => void;
  readonly #turns = new Turns();
  #pending: readonly string[] = [];
  /** Whether those will be written. */
  #isWaiting = false;
  #notice: string | undefined;

  /** Without a folder, nothing is kept. `onNotice` gets a sentence if there is a problem with the file. */
  constructor(folder: string | undefined, onNotice: (sentence: string) => void) {
    this.#folder = folder;
    this.#onNotice = onNotice;
  }

  get isKept(): boolean {
    return this.#folder !== undefined;
  }

  /** The latest problem with the file. */
  get notice(): string | undefined {
    return this.#notice;
  }

  /** Resolves when everything so far is written. */
  get idle(): Promise<unknown> {
    return this.#turns.idle;
  }

  /** The runs of a server, oldest first. Never rejects: a file that cannot be read is put aside. */
  async runs(server: string): Promise<readonly KeptRun[]> {
    const runs = await this.#turns
      .take(() => this.#load())
      .catch((error: unknown) => this.#tell(`The history cannot be read: ${wordsOf(error)}`));
    return (runs ?? []).filter((run) => run.server === server);
  }

  /** Keeps a run. Runs that end while the file is written are written together. */
  keep(run: KeptRun): void {
    if (this.#folder === undefined) return;
    this.#pending = [...this.#pending, JSON.stringify(run)].slice(-MAX_RUNS);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#turns
      .take(() => this.#flush())
      .catch((error: unknown) => this.#tell(`Calls cannot be kept: ${wordsOf(error)}`));
  }

  async #flush(): Promise<void> {
    const fresh = this.#pending;
    this.#isWaiting = false;
    this.#pending = [];
    try {
      await this.#change((lines) => [...lines, ...fresh]);
    } catch (error) {
      // They are written with the next one, if the file can be written then.
      this.#pending = [...fresh, ...this.#pending].slice(-MAX_RUNS);
      throw error;
    }
  }

  /** Removes runs. */
  async remove(isRemoved: (run: KeptRun) => boolean): Promise<void> {
    await this.#delete(() =>
      this.#change((lines) =>
        lines.filter((line) => {
          const run = readRun(line);
          return run !== undefined && !isRemoved(run);
        }),
      ),
    );
  }

  /** Deletes the file, and those that were put aside. */
  async forget(): Promise<void> {
    await this.#delete(() =>
      this.#locked(async (folder) => {
        const own = (await readdir(folder)).filter((name) => name.startsWith(NAME));
        for (const name of own) await rm(join(folder, name), { force: true, recursive: true });
        this.#pending = [];
      }),
    );
    this.#notice = undefined;
  }

  async #delete(work: () => Promise<void>): Promise<void> {
    if (this.#folder === undefined) return;
    await this.#turns.take(work).catch((error: unknown) => {
      throw new McpError('internal_error', `The history cannot be deleted: ${wordsOf(error)}`);
    });
  }

  async #load(): Promise<readonly KeptRun[]> {
    const folder = this.#folder;
    if (folder === undefined) return [];
    const { lines, problem } = await read(join(folder, NAME));
    const runs = lines.map(readRun);
    // A file that looks damaged may just be being replaced: the holder of the lock decides.
    if (problem !== undefined || runs.includes(undefined)) await this.#change((sound) => sound);
    const found = problem === undefined ? runs.filter((run) => run !== undefined) : [];
    return found.filter(isFresh).slice(-MAX_RUNS);
  }

  /** Replaces the lines of the file. One that cannot be used is put aside first, and what can be read of it is kept. */
  async #change(change: (lines: readonly string[]) => readonly string[]): Promise<void> {
    await this.#locked(async (folder) => {
      const path = join(folder, NAME);
      const { lines, problem } = await read(path);
      const sound = lines.filter((line) => readRun(line) !== undefined);
      const lost = lines.length - sound.length;
      const why =
        problem ?? (lost === 0 ? undefined : `is damaged: ${lost} of ${lines.length} calls cannot be read`);
      if (why !== undefined) {
        const aside = await putAside(folder);
        this.#tell(`The history of this project ${why}. The file was put aside as ${aside}.`);
      }
      await replace(folder, bounded(change(sound)));
    });
  }

  async #locked(work: (folder: string) => Promise<void>): Promise<void> {
    const folder = this.#folder;
    if (folder === undefined) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const lock = await waitForLock(folder, {
      name: 'lock',
      ms: LOCK_MS,
      signal: AbortSignal.timeout(WAIT_MS),
    });
    try {
      await work(folder);
    } finally {
      await lock.release();
    }
  }

  #tell(sentence: string): undefined {
    this.#notice = sentence;
    this.#onNotice(sentence);
  }
}

async function read(path: string): Promise<HistoryText> {
  const stats = await lstat(path).catch(unlessMissing);
  if (stats === undefined) return { lines: [] };
  // A pipe or a device never ends, and a link leads elsewhere.
  if (!stats.isFile()) return { lines: [], problem: 'is not a file' };
  if (stats.size > 2 * MAX_FILE)
    return { lines: [], problem: `has ${Math.round(stats.size / 1e6)} MB, which is too much` };
  const text = (await readFile(path, 'utf8').catch(unlessMissing)) ?? '';
  if (text === '') return { lines: [] };
  const [header = '', ...lines] = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const problem = headerProblem(header);
  return problem === undefined ? { lines } : { lines: [], problem };
}

function headerProblem(line: string): string | undefined {
  const header = tryParse(line);
  if (!isObject(header) || header['fullmcp'] !== 'history') return 'is not a file of fullmcp';
  const { version: format } = header;
  if (format === FORMAT) return undefined;
  return typeof format === 'number' && format > FORMAT
    ? 'was written by a newer version of fullmcp'
    : 'has a version that does not exist';
}

/** The latest lines within the bounds. The oldest ones are looked at until one is young enough. */
function bounded(lines: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let size = HEADER.length;
  for (const line of lines.slice(-MAX_RUNS).reverse()) {
    size += Buffer.byteLength(line) + 1;
    if (size > MAX_FILE) break;
    kept.push(line);
  }
  kept.reverse();
  const first = kept.findIndex((line) => {
    const run = readRun(line);
    return run !== undefined && isFresh(run);
  });
  return first === -1 ? [] : kept.slice(first);
}

function isFresh({ endedAt }: KeptRun): boolean {
  return endedAt > Date.now() - MAX_AGE_MS;
}

/** Replaces the file as a whole: readers never see a part of it. Only the holder of the lock writes, so that other parts are of the dead. */
async function replace(folder: string, lines: readonly string[]): Promise<void> {
  const part = join(folder, `${NAME}.part-${randomBytes(6).toString('hex')}`);
  for (const name of await readdir(folder))
    if (name.startsWith(`${NAME}.part-`)) await rm(join(folder, name), { force: true });
  try {
    await writeFile(part, `${[HEADER, ...lines].join('\n')}\n`, { flag: 'wx', mode: 0o600 });
    await rename(part, join(folder, NAME));
  } finally {
    await rm(part, { force: true });
  }
}

/** Renames the file, whatever it is. Returns its new path. */
async function putAside(folder: string): Promise<string> {
  const before = `${NAME}.aside-`;
  const time = new Date().toISOString().replaceAll(/\D/g, '');
  const aside = join(folder, `${before}${time}-${randomBytes(2).toString('hex')}`);
  await rename(join(folder, NAME), aside);
  const all = (await readdir(folder)).filter((name) => name.startsWith(before)).sort();
  for (const name of all.slice(0, -MAX_ASIDE)) await rm(join(folder, name), { force: true, recursive: true });
  return aside;
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'TimeoutError' ? 'another inspector has locked its file.' : `${error.message}.`;
}

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
