// The manifest that a word on the command line stands for: a file that was saved, or a server that is asked now.

import { readFile, stat } from 'node:fs/promises';
import { parseStrictly, RefusedJson } from '../../jsonrpc/parse.js';
import { type Manifest, manifestOf, parseManifest } from '../../tooling/manifest/manifest.js';
import type { Typed } from '../command/definition.js';
import { usageError } from '../command/failures.js';
import { withTarget } from '../target/open.js';

const MAX_FILE_BYTES = 256 * 1024 * 1024;
const MAX_LEVELS = 600;

/** Reads the manifest of a word: a JSON file with a manifest, or a target. Without a word, of the command after `--`. */
export async function loadManifest(word: string | undefined, input: Typed): Promise<Manifest> {
  const saved = word === undefined ? undefined : await readSaved(word);
  return saved ?? askServer(word, input);
}

/** Asks the target for everything that it offers. Problems in its lists are written to stderr. */
async function askServer(word: string | undefined, input: Typed): Promise<Manifest> {
  let manifest: Manifest | undefined;
  const one = word === undefined ? { ...input, words: [] } : { ...input, words: [word], process: undefined };
  await withTarget(one, async ({ client }) => {
    manifest = await manifestOf(client, { withRemoved: true });
    for (const problem of client.info().problems) input.out.note(problem);
  });
  return manifest as unknown as Manifest;
}

/** Reads a file that has a manifest; undefined if the word is something else, such as a URL or a config. */
async function readSaved(word: string): Promise<Manifest | undefined> {
  if (!/\.json$/i.test(word) || /^[a-z]+:\/\//i.test(word)) return undefined;
  const value = await readJson(word);
  try {
    const manifest = parseManifest(value);
    if (manifest !== undefined || !/\.manifest\.json$/i.test(word)) return manifest;
  } catch (error) {
    throw usageError(
      `The manifest ${word} is damaged: ${(error as Error).message}. Write it again with: fullmcp manifest`,
    );
  }
  throw usageError(
    `${word} is not a manifest: "fullmcp" must be "manifest". Write one with: fullmcp manifest <target> -o ${word}`,
  );
}

async function readJson(path: string): Promise<unknown> {
  try {
    if ((await stat(path)).size > MAX_FILE_BYTES) throw new Error('it is larger than 256 MB');
    const value = parseStrictly(await readFile(path, 'utf8'), MAX_LEVELS);
    if (!(value instanceof RefusedJson)) return value;
    throw new Error(
      value.fault === 'syntax'
        ? 'it is not JSON'
        : 'it is nested too deep, or has a number that is too large',
    );
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageError(
      code === 'ENOENT' ? `The file ${path} does not exist.` : `The file ${path} cannot be read: ${message}.`,
    );
  }
}
