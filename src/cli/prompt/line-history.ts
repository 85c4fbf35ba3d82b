// The lines that were typed at a prompt, in a small file of the user. Lines with a secret in them are not kept there.

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isObject } from '../../jsonrpc/message.js';
import { isSecretName } from '../../protocol/secrets/is-secret-name.js';
import { hideInText } from '../../protocol/secrets/text.js';
import { clean } from '../../tooling/clean.js';

const MAX_LINES = 500;
const MAX_LINE = 2000;
const MAX_BYTES = 1_500_000;

export class LineHistory {
  readonly #file: string;
  #lines: readonly string[] = [];
  readonly #hide = hideInText();

  constructor(file: string) {
    this.#file = file;
  }

  /** The last line first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Reads the lines of earlier prompts. A file that is damaged counts as empty. */
  async load(): Promise<void> {
    this.#lines = await this.#read();
  }

  /** Remembers a line: here in any case, in the file without secrets. A file that cannot be written is not an error. */
  async add(line: string): Promise<void> {
    if (line.trim() === '') return;
    this.#lines = withLine(line, this.#lines);
    // As in a shell, a space at the beginning keeps a line out of the file.
    if (line.startsWith(' ') || line.length > MAX_LINE || this.#hasSecret(line)) return;
    // Another prompt may have written since.
    await this.#write(withLine(line, await this.#read())).catch(() => undefined);
  }

  #hasSecret(line: string): boolean {
    const names = line.matchAll(/([\w.-]{1,100})(?:"\s{0,4}:|:?=)/g);
    return (
      this.#hide(line) !== line ||
      [...names].some(([, name = '']) => isSecretName(name.split('.').at(-1) ?? name))
    );
  }

  async #read(): Promise<readonly string[]> {
    try {
      const text = await readFile(this.#file, 'utf8');
      const value: unknown = text.length > MAX_BYTES ? undefined : JSON.parse(text);
      const lines = isObject(value) && Array.isArray(value['lines']) ? value['lines'] : [];
      return lines.filter(isLine).slice(0, MAX_LINES);
    } catch {
      return [];
    }
  }

  /** The file is complete as soon as it has its name. */
  async #write(lines: readonly string[]): Promise<void> {
    const temporary = `${this.#file}-${randomBytes(6).toString('hex')}`;
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    try {
      await writeFile(temporary, `${JSON.stringify({ lines }, undefined, 1)}\n`, { flag: 'wx', mode: 0o600 });
      await rename(temporary, this.#file);
    } finally {
      await rm(temporary, { force: true });
    }
  }
}

function withLine(line: string, lines: readonly string[]): readonly string[] {
  return [line, ...lines.filter((one) => one !== line)].slice(0, MAX_LINES);
}

/** A line that readline can draw: a file that was changed by hand may hold anything. */
function isLine(value: unknown): value is string {
  return (
    typeof value === 'string' && value.length <= MAX_LINE && clean(value) === value && !/[\n\t]/.test(value)
  );
}
