import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { replaceFile } from '../../../adapters/node/files/whole-files.js';
import { fullmcp } from '../../../client/model/options.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { packageFolder } from '../../docs/documentation.js';
import { confirm } from '../../hosts/target-file.js';

const SKILL = 'skills/fullmcp/SKILL.md';
/** Where hosts look for the skills of a project: most of them, and Claude Code. */
const PLACES = ['.agents', '.claude'].map((folder) => `${folder}/${SKILL}`);
const MAX_BYTES = 1_000_000;

/** The change of a file: it is written, stays as it is, takes the place of an earlier version, or of one that somebody changed. */
type Change = 'new' | 'same' | 'updated' | 'overwritten';

interface Place {
  /** Its path below the folder of the project. */
  readonly path: string;
  readonly file: string;
  readonly change: Change;
}

/** `fullmcp install-skill`. */
export const installSkill: Command = {
  usage: '[folder]',
  details:
    'Copies the skill of the installed version into a project: into .agents/skills, where Codex, Cursor, Gemini CLI, GitHub Copilot and OpenCode\nlook, and into .claude/skills for Claude Code. It tells a model to read the documentation in node_modules, which import is for what, and\nhow to check its work. The files are shown first. A file that somebody has changed is left alone, unless --force is given.\nRun it again after an update of fullmcp.',
  words: [0, 1],
  options: {
    force: { type: 'boolean', help: 'overwrite a file that was changed' },
    'dry-run': { type: 'boolean', help: 'print the skill, and write nothing' },
    yes: { type: 'boolean', short: 'y', help: 'do not ask' },
  },
  examples: [
    { line: 'fullmcp install-skill', says: 'Into the project in this folder, after a question.' },
    { line: 'fullmcp install-skill ../shop --yes', says: 'Into another project, without a question.' },
  ],
  json: "{ ok: true, folder: string, version: string, files: { path: string, change: 'new' | 'same' | 'updated' | 'overwritten' }[], written: boolean }",
  async run(input) {
    const { out } = input;
    const folder = projectFolder(input.words[0] ?? '.');
    const text = ownSkill();
    const places = PLACES.map((path) => placeIn(folder, path, text));
    const changed = places.filter(({ change }) => change === 'overwritten');
    if (changed.length > 0 && !input.flag('force'))
      throw new CommandError(
        'failed',
        `${changed.map(({ path }) => path).join(' and ')}: changed after it was installed, or not written by this command. Nothing was written. --force overwrites it.`,
      );
    const open = places.filter(({ change }) => change !== 'same');
    const isWritten = open.length > 0 && !input.flag('dry-run');
    show(places, text, input);
    if (isWritten) {
      await confirm(input, `Write ${open.length === 1 ? 'this file' : 'these files'} in ${folder}?`);
      for (const { file } of open) await write(file, text);
    }
    const files = places.map(({ path, change }) => ({ path, change }));
    out.json({ ok: true, folder, version: fullmcp.version, files, written: isWritten });
    if (open.length === 0) out.note(`The skill of fullmcp ${fullmcp.version} is there already.`);
    else if (isWritten) out.note('Written. Start a new session of the agent, so that it finds the skill.');
  },
};

function show(places: readonly Place[], text: string, input: Typed): void {
  if (input.out.isJson) return;
  for (const { path, change } of places)
    input.out.note(`${path}  ${change}, ${Buffer.byteLength(text)} bytes`);
  if (input.flag('dry-run')) input.out.value(text.trimEnd());
}

function projectFolder(typed: string): string {
  const folder = resolve(typed);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw usageError(`There is no folder ${folder}.`);
  return realpathSync(folder);
}

/** The skill of this package, with a last line by which a later version knows that nobody has changed it. */
function ownSkill(): string {
  const file = join(packageFolder(), SKILL);
  if (!existsSync(file))
    throw new CommandError(
      'failed',
      `This copy of fullmcp has no skill (${file}). Install the package again: npm install fullmcp@${fullmcp.version}`,
    );
  const text = `${readFileSync(file, 'utf8').trimEnd()}\n`;
  return `${text}\n<!-- fullmcp ${fullmcp.version} sha256:${digestOf(text)} -->\n`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function placeIn(folder: string, path: string, text: string): Place {
  const file = join(folder, path);
  checkWay(folder, path);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return { path, file, change: 'new' };
  if (!found.isFile() || found.size > MAX_BYTES)
    throw new CommandError('failed', `${path} is not a file of this command: remove it first.`);
  const before = readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  if (before === text) return { path, file, change: 'same' };
  return { path, file, change: isOurs(before) ? 'updated' : 'overwritten' };
}

/** Whether a file is as this command, of any version, has written it. */
function isOurs(text: string): boolean {
  const [, digest] = /\n<!-- fullmcp \S{1,80} sha256:([0-9a-f]{32}) -->\n?$/.exec(text) ?? [];
  return digest !== undefined && digestOf(text.slice(0, text.lastIndexOf('\n<!-- '))) === digest;
}

/** A link must not lead out of the project: the file would be written where nobody looks for it. */
function checkWay(folder: string, path: string): void {
  const names = path.split('/');
  for (let count = 1; count < names.length; count++) {
    const part = join(folder, ...names.slice(0, count));
    const found = lstatSync(part, { throwIfNoEntry: false });
    if (found === undefined) return;
    if (!found.isSymbolicLink()) {
      if (!found.isDirectory())
        throw new CommandError('failed', `${part} is not a folder: move it away first.`);
      continue;
    }
    const target = targetOf(part);
    if (target === undefined || relative(folder, target).startsWith('..'))
      throw new CommandError(
        'failed',
        `${part} is a link that ${target ? `leads out of the project, to ${target}` : 'leads nowhere'}. Nothing was written: remove it, or copy ${join(packageFolder(), SKILL)} yourself.`,
      );
  }
}

function targetOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

async function write(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await replaceFile(file, text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError('failed', `${file} cannot be written (${code ?? message}).`);
  }
}
