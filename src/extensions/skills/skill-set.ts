// The skills of a server as a snapshot: every file in memory, with the digest of exactly these bytes.

import type { ListedResource } from '../../protocol/model/model.js';
import { digestOf } from '../../protocol/model/skills/digest.js';
import {
  encodePath,
  folderOf,
  foldName,
  isSafeName,
  readFrontmatter,
  SKILL_FILE,
  SKILL_LIMITS,
  type SkillEntry,
  type SkillFile,
  SkillMistake,
} from '../../protocol/model/skills/skill.js';

/** The files of one skill or of many, by their path: a string, or bytes. */
export type SkillFiles = Readonly<Record<string, string | Uint8Array>>;

interface ServedFile extends SkillFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Undefined if the bytes are not UTF-8. */
  readonly text: string | undefined;
  readonly mimeType: string;
}

/** A mistake in the files of skills. */
export interface SkillProblem {
  /** The path of the file or the skill. */
  readonly path: string;
  /** The line of the file, from 1. */
  readonly line?: number;
  /** The mistake in one sentence. */
  readonly message: string;
  /** The path of the skill that cannot be served because of it; undefined if all skills can. */
  readonly skill: string | undefined;
}

/** The skills and their files at one moment. */
export interface SkillSet {
  /** The skills, sorted by URI. */
  readonly skills: readonly SkillEntry[];
  /** The files by URI. */
  readonly files: ReadonlyMap<string, ServedFile>;
  /** The children of each folder by its URI, sorted by URI. */
  readonly folders: ReadonlyMap<string, readonly ListedResource[]>;
  readonly problems: readonly SkillProblem[];
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Makes a set of the files, whose paths begin with those of their skills: `acme/refunds/SKILL.md`. */
export async function makeSkillSet(given: ReadonlyMap<string, Uint8Array>): Promise<SkillSet> {
  const problems: SkillProblem[] = [];
  const paths = [...given.keys()].sort();
  const roots = paths.filter((path) => path.endsWith(`/${SKILL_FILE}`)).map((path) => path.slice(0, -9));
  const outermost = roots.filter((root) => !roots.some((other) => root.startsWith(`${other}/`)));
  const files = new Map<string, ServedFile>();
  const skills: SkillEntry[] = [];
  for (const root of outermost) {
    const own = paths.filter((path) => path.startsWith(`${root}/`));
    const report = (path: string, message: string, line?: number): void =>
      void problems.push({ path, message, skill: root, ...(line !== undefined && { line }) });
    const before = problems.length;
    checkPaths(own, root, report);
    checkLimits(own, given, (message) => report(root, message));
    if (problems.length > before) continue;
    const served = await Promise.all(own.map((path) => serve(path, given.get(path) as Uint8Array)));
    const byPath = new Map(served.map((file) => [file.path, file]));
    for (const inner of roots.filter((each) => each === root || each.startsWith(`${root}/`))) {
      try {
        skills.push(entryOf(inner, byPath));
      } catch (error) {
        if (!(error instanceof SkillMistake)) throw error;
        // To the skill around it, a nested SKILL.md is a file like any other.
        const skill = inner === root ? root : undefined;
        problems.push({ path: `${inner}/${SKILL_FILE}`, line: error.line, message: error.message, skill });
      }
    }
    if (problems.length > before && problems.slice(before).some(({ skill }) => skill !== undefined)) continue;
    for (const file of served) files.set(file.uri, file);
  }
  const served = skills.filter(({ uri }) => files.has(uri));
  return { skills: served.sort(byUri), files, folders: foldersOf(files, served), problems };
}

function checkPaths(
  paths: readonly string[],
  root: string,
  report: (path: string, message: string) => void,
): void {
  const seen = new Map<string, string>();
  for (const path of paths) {
    if (!path.split('/').every(isSafeName))
      report(path, 'The name has characters that not every system allows in the names of files.');
    const folded = foldName(path);
    const other = seen.get(folded);
    if (other !== undefined)
      report(path, `The name is the same as that of ${other} on systems that ignore case.`);
    seen.set(folded, path);
  }
  // The first segment is where a URI has its host.
  const [first = ''] = root.split('/');
  if (!/^[A-Za-z0-9._~-]+$/.test(first))
    report(first, 'The outermost folder must have a name of letters, digits, dots, hyphens and underscores.');
}

function checkLimits(
  paths: readonly string[],
  given: ReadonlyMap<string, Uint8Array>,
  report: (message: string) => void,
): void {
  const { maxFiles, maxBytes } = SKILL_LIMITS;
  if (paths.length > maxFiles)
    report(`The skill has ${paths.length} files; at most ${maxFiles} are allowed.`);
  const bytes = paths.reduce((sum, path) => sum + (given.get(path)?.length ?? 0), 0);
  if (bytes > maxBytes) report(`The skill has ${bytes} bytes; at most ${maxBytes} are allowed.`);
}

async function serve(path: string, bytes: Uint8Array): Promise<ServedFile> {
  const text = decode(bytes);
  return {
    uri: `skill://${encodePath(path)}`,
    path,
    bytes,
    text,
    mimeType: mediaType(path, text !== undefined),
    digest: await digestOf(bytes),
    size: bytes.length,
  };
}

// A file with NUL is binary, whatever else is in it.
function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function entryOf(root: string, files: ReadonlyMap<string, ServedFile>): SkillEntry {
  const main = files.get(`${root}/${SKILL_FILE}`) as ServedFile;
  if (main.text === undefined) throw new SkillMistake(`${SKILL_FILE} must be text in UTF-8.`);
  const frontmatter = readFrontmatter(main.text);
  const folder = root.slice(root.lastIndexOf('/') + 1);
  if (frontmatter.name !== folder)
    throw new SkillMistake(
      `The name "${frontmatter.name}" differs from that of the folder, "${folder}". Rename one of them.`,
    );
  const own = [...files.values()].filter(({ path }) => path.startsWith(`${root}/`));
  const resources = own.map(({ uri, digest, size }) => ({ uri, digest, size }));
  return { uri: main.uri, frontmatter, resources };
}

const DIRECTORY = 'inode/directory';

function foldersOf(
  files: ReadonlyMap<string, ServedFile>,
  skills: readonly SkillEntry[],
): Map<string, readonly ListedResource[]> {
  const folders = new Map<string, Map<string, ListedResource>>();
  const bySkill = new Map(skills.map((skill) => [skill.uri, skill]));
  const add = (child: ListedResource): void => {
    const parent = child.uri.slice(0, child.uri.lastIndexOf('/'));
    if (parent === 'skill:/') return;
    const children = folders.get(parent);
    if (children !== undefined) return void children.set(child.uri, child);
    folders.set(parent, new Map([[child.uri, child]]));
    add({ uri: parent, name: decodeURIComponent(lastOf(parent)), mimeType: DIRECTORY });
  };
  for (const file of files.values()) add(listedFile(file, bySkill.get(file.uri)));
  return new Map([...folders].map(([uri, children]) => [uri, [...children.values()].sort(byUri)]));
}

// A file as `resources/list` has it.
function listedFile({ uri, path, mimeType, size }: ServedFile, skill?: SkillEntry): ListedResource {
  const { name = lastOf(path), description } = skill?.frontmatter ?? {};
  return { uri, name: name as string, ...(skill && { description: description as string }), mimeType, size };
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function byUri(a: { readonly uri: string }, b: { readonly uri: string }): number {
  return a.uri < b.uri ? -1 : 1;
}

/** Whether a file belongs to a skill. */
export function belongsTo(skill: SkillEntry, uri: string): boolean {
  return uri.startsWith(`${folderOf(skill.uri)}/`);
}

/** The media types of files, by the ending of the name. */
const mediaTypes: Readonly<Record<string, string>> = {
  ...{ md: 'text/markdown', txt: 'text/plain', csv: 'text/csv', html: 'text/html', css: 'text/css' },
  ...{ json: 'application/json', yaml: 'application/yaml', yml: 'application/yaml', xml: 'application/xml' },
  ...{ toml: 'application/toml', js: 'text/javascript', mjs: 'text/javascript', ts: 'text/x-typescript' },
  ...{ py: 'text/x-python', sh: 'text/x-shellscript', sql: 'application/sql', svg: 'image/svg+xml' },
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' },
  ...{ pdf: 'application/pdf', zip: 'application/zip', wasm: 'application/wasm' },
};

/** The media type of a file. */
function mediaType(path: string, isText: boolean): string {
  const ending = /\.([a-z0-9]{1,8})$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(mediaTypes, ending) ? mediaTypes[ending] : undefined;
  return known ?? (isText ? 'text/plain' : 'application/octet-stream');
}
