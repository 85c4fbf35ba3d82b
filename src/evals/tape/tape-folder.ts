// The folder with the tapes of a suite: one file for each model.

import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { readIfThere, replaceFile } from '../../adapters/node/files/whole-files.js';
import { CASE_FILE } from '../cases/case-file.js';
import { type ModelTarget, modelTarget } from '../model/target.js';
import { printTape, readTape, type Tape } from './tape.js';

const ENDING = '.tape.jsonl';
const MAX_BYTES = 200_000_000;

/** Only the header has the scores: the runs are judged anew. */
type ReadTape = Omit<Tape, 'scores'>;

/** The files in which `fullmcp eval` looks for cases, in this order. */
export const EVAL_FILES: readonly string[] = [
  'evals.ts',
  'evals.js',
  'evals.mjs',
  'src/evals.ts',
  'src/evals.js',
  CASE_FILE,
];

/** The folder of the tapes of a file. */
export function tapesBeside(file: string): string {
  return join(dirname(file), `${basename(file, extname(file))}.tapes`);
}

/** The folders in which a project has its tapes, if it names none. */
export const TAPE_FOLDERS: readonly string[] = [...new Set(EVAL_FILES.map(tapesBeside))];

export class TapeFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The tape of a model; undefined if there is none. Throws a `TypeError` if it cannot be read. */
  async read({ name }: Pick<ModelTarget, 'name'>): Promise<ReadTape | undefined> {
    return this.#readFile(fileOf(name));
  }

  /** Replaces the tape of a model. */
  async write(
    { name, api, model }: ModelTarget,
    { runs, scores }: Pick<Tape, 'runs' | 'scores'>,
    secrets: readonly string[],
  ): Promise<void> {
    await mkdir(this.path, { recursive: true });
    await replaceFile(join(this.path, fileOf(name)), printTape({ name, api, model, scores, runs }, secrets));
  }

  /** The names of the files with tapes. */
  async files(): Promise<readonly string[]> {
    const files = await readdir(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return files.filter((file) => file.endsWith(ENDING)).sort();
  }

  /** All tapes. */
  async tapes(): Promise<readonly ReadTape[]> {
    const tapes = await Promise.all((await this.files()).map((file) => this.#readFile(file)));
    return tapes.filter((tape) => tape !== undefined);
  }

  /** The models that have tapes, as far as a tape describes them. */
  async targets(): Promise<readonly ModelTarget[]> {
    return (await this.tapes()).map(({ name, api, model }) => modelTarget({ name, api, model }));
  }

  async #readFile(file: string): Promise<ReadTape | undefined> {
    const path = join(this.path, file);
    const size = await stat(path).then(
      (stats) => stats.size,
      () => 0,
    );
    if (size > MAX_BYTES) throw new TypeError(`${path} is larger than 200 MB.`);
    const text = await readIfThere(path);
    if (text === undefined) return undefined;
    try {
      return readTape(text);
    } catch (error) {
      throw new TypeError(`${path} is not a tape of evals. ${(error as Error).message}`);
    }
  }
}

/** The file of a model. Its name may have any characters, and may come from the command line. */
function fileOf(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '_');
  return `${plain}${ENDING}`;
}
