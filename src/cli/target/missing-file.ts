// Says that a file that was typed does not exist, and which one was probably meant.

import { readdirSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { closestName } from '../../schema/explain/closest-name.js';
import { cleanLine } from '../../tooling/clean.js';

const NAMED = /\.(?:[cm]?[jt]s|py|json)$/i;
const MAX_PATH = 1000;

/** The sentence for a file that does not exist. Names a file of the same folder, or of `src` below it, whose name is close. */
export function missingFile(path: string, folder = '.'): string {
  const close = closeFile(path, folder);
  const hint = close === undefined ? '' : ` Did you mean ${JSON.stringify(cleanLine(close, MAX_PATH))}?`;
  return `There is no file ${path} (looked in ${resolve(folder)}).${hint}`;
}

function closeFile(path: string, folder: string): string | undefined {
  const name = basename(path);
  const before = path.slice(0, path.length - name.length);
  for (const below of ['', 'src/']) {
    const close = closestName(name, filesIn(resolve(folder, dirname(path), below)));
    if (close !== undefined) return `${before}${below}${close}`;
  }
  return undefined;
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => NAMED.test(name));
  } catch {
    return [];
  }
}
