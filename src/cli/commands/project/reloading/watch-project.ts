// Watches the project of a file for changes of source files.

import { type Dirent, existsSync, type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const SOURCE = /\.(?:[cm]?[jt]sx?|json|ya?ml)$/i;
const SKIPPED = /^(?:node_modules|dist|build|coverage|\..*)$/;
const MAX_FOLDERS = 500;
/** Editors write a file in several steps, and save several files. */
const QUIET_MS = 50;
/** A program that writes all the time does not delay a reload forever. */
const MOST_MS = 500;

export interface WatchOptions {
  readonly onChange: () => void;
  /** Called with a sentence if something cannot be watched. */
  readonly onProblem: (message: string) => void;
}

/**
 * Calls `onChange` when source files have changed and nothing more changes for a moment. The project is the closest folder above the file
 * that has a package.json, otherwise the folder of the file. Folders are watched, not files: many editors write another file and rename it.
 */
export function watchProject(file: string, { onChange, onProblem }: WatchOptions): { close: () => void } {
  const own = dirname(resolve(file));
  const roots = [...new Set([own, projectOf(own)])];
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  let hasProblem = false;

  function problem(message: string): void {
    if (!hasProblem) onProblem(message);
    hasProblem = true;
  }

  function changed(name: string | null): void {
    // A name without an ending may be a folder.
    if (name !== null && !SOURCE.test(name) && (name.includes('.') || SKIPPED.test(name))) return;
    since ??= performance.now();
    clearTimeout(timer);
    timer = setTimeout(report, Math.min(QUIET_MS, Math.max(0, since + MOST_MS - performance.now())));
  }

  function report(): void {
    since = undefined;
    scan();
    onChange();
  }

  function scan(): void {
    const folders = roots.flatMap(foldersBelow);
    if (folders.length > MAX_FOLDERS)
      problem(`The project has more than ${MAX_FOLDERS} folders. Changes in the others are not noticed.`);
    const wanted = new Set(folders.slice(0, MAX_FOLDERS));
    for (const [path, { id, watcher }] of watched) {
      // A folder that was deleted and made again is another one.
      if (wanted.has(path) && idOf(path) === id) continue;
      watcher.close();
      watched.delete(path);
    }
    for (const path of wanted) if (!watched.has(path)) add(path);
  }

  function add(path: string): void {
    try {
      const watcher = watch(path, (_, name) => changed(name));
      watcher.on('error', () => watcher.close());
      watched.set(path, { watcher, id: idOf(path) });
    } catch (error) {
      problem(`${path} cannot be watched, so changes in it are not noticed: ${(error as Error).message}`);
    }
  }

  scan();
  return {
    close: () => {
      clearTimeout(timer);
      for (const { watcher } of watched.values()) watcher.close();
      watched.clear();
    },
  };
}

interface Watched {
  readonly watcher: FSWatcher;
  readonly id: string | undefined;
}

function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (at === dirname(at)) return folder;
  }
}

/** Numbers of files are used again, so the time of birth is part of the id. */
function idOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev} ${found.ino} ${found.birthtimeNs}`;
}

function foldersBelow(folder: string): readonly string[] {
  const found = [folder];
  for (const path of found) {
    if (found.length > MAX_FOLDERS) break;
    for (const entry of entriesOf(path))
      if (entry.isDirectory() && !SKIPPED.test(entry.name)) found.push(join(path, entry.name));
  }
  return found;
}

function entriesOf(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    // It was deleted in the meantime.
    return [];
  }
}
