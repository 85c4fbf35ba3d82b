// Reads the skills in a folder. Links are not followed, and only the files that were checked are read.

import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { SkillProblem } from '../../../extensions/skills/skill-set.js';
import type { ReadFiles } from '../../../extensions/skills/skills-extension.js';
import { SKILL_FILE, SKILL_LIMITS } from '../../../protocol/model/skills/skill.js';

/** The most entries of a folder with all that is in it, the deepest path, and the most bytes of all skills together. */
const LIMITS = { entries: 20_000, depth: 16, bytes: 256 * 1024 * 1024 };

/** Reads all files of the skills below a folder, by path. Files outside of a skill, and hidden ones, are left out. */
export async function readSkillFolder(folder: string, prefix: string | undefined): Promise<ReadFiles> {
  const root = await realpath(resolve(folder)).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'there is no such folder' : error.message;
    throw new Error(`The skills in ${resolve(folder)} cannot be read: ${reason}.`, { cause: error });
  });
  const files = new Map<string, Uint8Array>();
  const problems: SkillProblem[] = [];
  const under = prefix === undefined ? '' : `${prefix}/`;
  let entries = 0;
  let bytes = 0;

  async function visit(path: string, skill: string | undefined): Promise<void> {
    const children = await readdir(join(root, path), { withFileTypes: true });
    const own =
      skill ?? (path !== '' && children.some(({ name }) => name === SKILL_FILE) ? under + path : undefined);
    for (const child of children.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (child.name.startsWith('.')) continue;
      const inner = path === '' ? child.name : `${path}/${child.name}`;
      entries++;
      if (entries > LIMITS.entries) throw new RangeError(`${folder} has more than ${LIMITS.entries} files.`);
      const report = (message: string): void =>
        void problems.push({ path: under + inner, message, skill: own });
      if (child.isDirectory()) {
        if (inner.split('/').length > LIMITS.depth)
          report(`Folders are nested more than ${LIMITS.depth} deep.`);
        else await visit(inner, own);
      } else if (own === undefined) {
        if (child.isSymbolicLink()) report('It is a link. Links are not followed: copy what it leads to.');
      } else if (child.isFile()) {
        const content = await readChecked(root, inner).catch((error: unknown) => error as Error);
        if (content instanceof Error) report(content.message);
        else {
          bytes += content.length;
          if (bytes > LIMITS.bytes)
            throw new RangeError(`The skills in ${folder} have more than ${LIMITS.bytes} bytes.`);
          files.set(under + inner, content);
        }
      } else report('It is neither a file nor a folder. Links are not followed: copy what it leads to.');
    }
  }

  await visit('', undefined);
  return { files, problems };
}

/** The attempts to read a file that is written at the same time. */
const ATTEMPTS = 3;

async function readChecked(root: string, path: string): Promise<Uint8Array> {
  for (let attempt = 1; ; attempt++) {
    const bytes = await readOnce(root, path);
    if (bytes !== undefined) return bytes;
    if (attempt === ATTEMPTS) throw new Error('The file changes while it is read.');
  }
}

/** The bytes of a file; undefined if it changed in the meantime. */
async function readOnce(root: string, path: string): Promise<Uint8Array | undefined> {
  const full = join(root, path);
  // A pipe in place of the file would wait for its writer.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(full, flags);
  try {
    const before = await file.stat();
    if (!before.isFile()) throw new Error('It is not a file.');
    // A folder on the way may have become a link since it was listed: then the opened file is another one.
    if ((await realpath(full)) !== full || !isSame(before, await lstat(full)))
      throw new Error('It is reached through a link. Links are not followed.');
    if (before.size > SKILL_LIMITS.maxBytes)
      throw new Error(`The file has ${before.size} bytes; at most ${SKILL_LIMITS.maxBytes} are allowed.`);
    const bytes = new Uint8Array(before.size + 1);
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read)
      read = (await file.read(bytes, length, bytes.length - length, length)).bytesRead;
    const after = await file.stat();
    const isWhole = length === before.size && after.size === before.size && after.mtimeMs === before.mtimeMs;
    return isWhole ? bytes.slice(0, length) : undefined;
  } finally {
    await file.close();
  }
}

function isSame(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}
