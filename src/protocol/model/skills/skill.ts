// The skills extension (SEP-2640): the parts that servers and clients share.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { readYaml } from './yaml.js';
import { YamlError } from './yaml-inline.js';

/** The identifier of the extension. */
export const SKILLS = 'io.modelcontextprotocol/skills';
/** The file that every skill has at its root. */
export const SKILL_FILE = 'SKILL.md';
/** The limits that every host supports (Skills, Limits). */
export const SKILL_LIMITS = { maxFiles: 512, maxBytes: 16_777_216 } as const;
/** The largest front matter that is read, in characters. */
const MAX_FRONTMATTER = 16_384;

/** The front matter of a skill: `name`, `description`, and whatever else the author wrote. */
export interface Frontmatter extends JsonObject {
  /** The name: that of the skill's folder. */
  readonly name: string;
  /** The purpose of the skill, and when to use it. */
  readonly description: string;
}

/** A file of a skill, with the digest and the size of its bytes. */
export interface SkillFile {
  /** The URI of the file. */
  readonly uri: string;
  /** The SHA-256 digest of the bytes: `sha256:` and 64 lowercase hexadecimal digits. */
  readonly digest: string;
  /** The number of bytes. */
  readonly size: number;
}

/** A skill as a server lists it. */
export interface SkillEntry {
  /** The URI of the skill's `SKILL.md`. */
  readonly uri: string;
  /** The front matter of `SKILL.md`. */
  readonly frontmatter: Frontmatter;
  /** All files of the skill, `SKILL.md` among them; `dynamic` if they are generated and have no digests. */
  readonly resources: readonly SkillFile[] | 'dynamic';
}

/** A mistake in a skill, with the line in `SKILL.md` where it is. */
export class SkillMistake extends Error {
  /** The line, from 1. */
  readonly line: number;

  constructor(message: string, line = 1) {
    super(message);
    this.name = 'SkillMistake';
    this.line = line;
  }
}

/** Reads the front matter of a `SKILL.md`. Throws a `SkillMistake`. */
export function readFrontmatter(text: string): Frontmatter {
  if (!/^---[ \t]{0,8}\r?\n/.test(text))
    throw new SkillMistake(`${SKILL_FILE} must begin with front matter: a line "---".`);
  const lines = text.slice(0, MAX_FRONTMATTER).split(/\r?\n/);
  const end = lines.findIndex((line, at) => at > 0 && /^---[ \t]{0,8}$/.test(line));
  if (end < 0)
    throw new SkillMistake(
      `The front matter has no closing line "---" within its first ${MAX_FRONTMATTER} characters.`,
    );
  try {
    const frontmatter = readYaml(lines.slice(1, end).join('\n'), 2) as JsonObject;
    const problem = frontmatterProblem(frontmatter);
    if (problem !== undefined)
      throw new SkillMistake(problem.message, 1 + Math.max(lineOf(lines, problem.key), 0));
    return frontmatter as Frontmatter;
  } catch (error) {
    throw error instanceof YamlError ? new SkillMistake(error.message, error.line) : error;
  }
}

function lineOf(lines: readonly string[], key: string): number {
  return lines.findIndex((line) => line.startsWith(`${key}:`));
}

/** The mistake in a front matter, by the rules of the Agent Skills specification. */
export function frontmatterProblem(
  frontmatter: unknown,
): { readonly key: string; readonly message: string } | undefined {
  if (!isObject(frontmatter)) return { key: '', message: 'The front matter must be an object.' };
  const { name, description, compatibility, metadata } = frontmatter;
  const lacks = (key: string): { key: string; message: string } => ({
    key,
    message: `"${key}" is missing or not a string.`,
  });
  if (typeof name !== 'string') return lacks('name');
  if (!isSkillName(name))
    return {
      key: 'name',
      message: `The name ${JSON.stringify(name.slice(0, 80))} must have 1 to 64 characters: a to z, 0 to 9 and single hyphens between them.`,
    };
  if (typeof description !== 'string' || description.trim() === '') return lacks('description');
  if (description.length > 1024)
    return { key: 'description', message: '"description" is longer than 1024 characters.' };
  if (compatibility !== undefined && (typeof compatibility !== 'string' || compatibility.length > 500))
    return { key: 'compatibility', message: '"compatibility" must be a string of at most 500 characters.' };
  if (metadata !== undefined && !isObject(metadata))
    return { key: 'metadata', message: '"metadata" must have keys and values.' };
  return undefined;
}

function isSkillName(name: string): boolean {
  return name.length <= 64 && /^[a-z0-9-]+$/.test(name) && !/^-|--|-$/.test(name);
}

/** The URI of a skill's folder: that of its `SKILL.md` without the file. Undefined if the URI is not that of a `SKILL.md`. */
export function folderOf(uri: string): string | undefined {
  return uri.endsWith(`/${SKILL_FILE}`) ? uri.slice(0, -SKILL_FILE.length - 1) : undefined;
}

/**
 * The path of a file within a skill's folder, decoded. Undefined if the URI leads out of the folder, or could be read in two ways: dots,
 * empty segments, encoded slashes, control characters, queries and fragments.
 */
export function pathWithin(folder: string, uri: string): string | undefined {
  if (!uri.startsWith(`${folder}/`) || uri.length > 4096) return undefined;
  const segments = uri.slice(folder.length + 1).split('/');
  const decoded = segments.map(decodeSegment);
  return decoded.includes(undefined) ? undefined : decoded.join('/');
}

function decodeSegment(segment: string): string | undefined {
  if (/[?#\\]/.test(segment)) return undefined;
  try {
    const name = decodeURIComponent(segment);
    return isSafeName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a name is that of one file in one folder, on every system. */
export function isSafeName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || name.length > 255) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f/\\:*?"<>|\ufffd]|[. ]$/.test(name)) return false;
  return !/\p{Surrogate}/u.test(name) && !/^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i.test(name);
}

/** A name by which two files are the same on systems that ignore case or normalize names. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** A path as part of a URI. */
export function encodePath(path: string): string {
  return path
    .split('/')
    .map((segment) => encodeURIComponent(segment).replace(/%(?:40|2B|3D|26|24|2C|3B)/g, decodeURIComponent))
    .join('/');
}
