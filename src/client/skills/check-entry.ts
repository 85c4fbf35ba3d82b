// Checks the entry of a skill that a server sends, before anything of the skill is read.

import { isObject } from '../../jsonrpc/message.js';
import {
  folderOf,
  foldName,
  frontmatterProblem,
  pathWithin,
  SKILL_LIMITS,
} from '../../protocol/model/skills/skill.js';

/** The reason why an entry cannot be used; undefined if it can. */
export function checkEntry(entry: unknown): string | undefined {
  if (!isObject(entry)) return 'the entry is not an object';
  const { uri, frontmatter, resources } = entry;
  const folder = typeof uri === 'string' && uri.length <= 4096 ? folderOf(uri) : undefined;
  if (folder === undefined) return 'the URI of the entry is not that of a SKILL.md';
  const problem = frontmatterProblem(frontmatter);
  if (problem !== undefined) return problem.message;
  const { name } = frontmatter as { readonly name: string };
  if (folder.slice(folder.lastIndexOf('/') + 1) !== name)
    return 'the name of the skill is not the last part of its URI';
  if (resources === 'dynamic') return undefined;
  return Array.isArray(resources) ? checkFiles(resources, folder, uri as string) : '"resources" is missing';
}

function checkFiles(files: readonly unknown[], folder: string, uri: string): string | undefined {
  const { maxFiles, maxBytes } = SKILL_LIMITS;
  if (files.length > maxFiles) return `the skill has more than ${maxFiles} files`;
  const paths = new Set<string>();
  let bytes = 0;
  for (const file of files) {
    if (!isObject(file) || typeof file['uri'] !== 'string') return 'a file has no URI';
    const { digest, size } = file;
    const path = pathWithin(folder, file['uri']);
    if (path === undefined) return 'the URI of a file leads out of the skill';
    // Two files that one system keeps in one place could take each other's.
    if (paths.has(foldName(path))) return 'a file is listed twice';
    paths.add(foldName(path));
    if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) return 'a digest is malformed';
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return 'a size is malformed';
    bytes += size;
  }
  if (bytes > maxBytes) return `the skill has more than ${maxBytes} bytes`;
  return files.some((file) => (file as { uri: string }).uri === uri) ? undefined : 'SKILL.md is not listed';
}

/** Whether two JSON values are equal, whatever the order of keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((each, at) => isEqual(each, b[at]))
    );
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  );
}
