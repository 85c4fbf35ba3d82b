// Saves a skill of a server as a folder: all of it, verified, or nothing.

import { lstat, mkdir, mkdtemp, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { callTable } from '../../../client/checks/option-tables.js';
import type { CallOptions } from '../../../client/model/options.js';
import type { Skill } from '../../../client/skills/skills-of.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import { McpError } from '../../../protocol/errors.js';
import {
  foldName,
  frontmatterProblem,
  isSafeName,
  SKILL_FILE,
} from '../../../protocol/model/skills/skill.js';

/** The options of `saveSkill`. */
export interface SaveSkillOptions extends CallOptions {
  /** Whether a skill of the same name in the folder is replaced. Default: false, an error is thrown. */
  readonly replace?: boolean;
}

const { idempotencyKey: _, ...eachCall } = callTable;
const optionTable = {
  ...eachCall,
  replace: { is: 'boolean', default: false },
} as const satisfies OptionTable<SaveSkillOptions>;

/** Saves a skill. */
export async function saveSkillFolder(
  skill: Skill,
  folder: string,
  given: SaveSkillOptions,
): Promise<string> {
  const { replace, ...options } = readOptions('saveSkill', given, optionTable);
  const { name } = skill.frontmatter;
  const paths = checkPaths(skill);
  await mkdir(resolve(folder), { recursive: true });
  const root = await realpath(resolve(folder));
  const target = join(root, name);
  await checkTarget(target, replace);
  // Nothing is written before everything is verified. The limits of a skill keep this small.
  const files = new Map<string, Uint8Array>();
  await skill.load(options);
  for (const path of paths) files.set(path, (await skill.read(path, options)).bytes);
  // The dot hides an unfinished folder from those that read skills here.
  const staging = await mkdtemp(join(root, `.${name}-`));
  try {
    const made = join(staging, 'new');
    for (const [path, bytes] of files) await write(join(made, ...path.split('/')), bytes);
    if (replace) await moveAside(target, join(staging, 'old'));
    await moveIn(made, target, join(staging, 'old'));
    return target;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** The paths of the files. Throws if the skill cannot be saved on every system. */
function checkPaths({ paths, frontmatter, uri }: Skill): readonly string[] {
  const fail = (problem: string): McpError =>
    new McpError('bad_response', `The skill ${uri.slice(0, 200)} cannot be saved: ${problem}.`);
  if (frontmatterProblem(frontmatter) !== undefined || !isSafeName(frontmatter.name))
    throw fail('its front matter is not valid');
  if (paths === undefined)
    throw fail('the server generates its files, which have no digests to verify them with');
  const files = new Set(paths.map(foldName));
  for (const path of paths) {
    const segments = path.split('/');
    if (!segments.every(isSafeName)) throw fail('a path leads out of its folder');
    // A .git or a .npmrc acts as soon as a program is started in the folder.
    if (segments.some((segment) => segment.startsWith('.'))) throw fail('it has a hidden file or folder');
    for (let depth = 1; depth < segments.length; depth++)
      if (files.has(foldName(segments.slice(0, depth).join('/'))))
        throw fail('a path is that of a file and of a folder');
  }
  if (!paths.includes(SKILL_FILE)) throw fail(`it has no ${SKILL_FILE}`);
  return paths;
}

async function checkTarget(target: string, replace: boolean): Promise<void> {
  const found = await lstat(target).catch(ignoreMissing);
  if (found === undefined) return;
  if (!found.isDirectory())
    throw new Error(`${target} is not a folder. Remove it, or save the skill elsewhere.`);
  if (!replace) throw exists(target);
}

async function write(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Nothing that comes from a server is executable.
  const file = await open(path, 'wx', 0o644);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function moveAside(target: string, old: string): Promise<void> {
  await rename(target, old).catch(ignoreMissing);
}

async function moveIn(made: string, target: string, old: string): Promise<void> {
  try {
    await rename(made, target);
  } catch (error) {
    await rename(old, target).catch(() => undefined);
    const { code } = error as NodeJS.ErrnoException;
    // Another process was faster.
    throw code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'EPERM' ? exists(target, error) : error;
  }
}

function exists(target: string, cause?: unknown): Error {
  return new Error(`${target} exists already. To replace it: saveSkill(skill, folder, { replace: true }).`, {
    cause,
  });
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
