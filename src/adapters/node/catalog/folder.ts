// The definitions in the modules of a folder.

import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { every } from '../../../async/every.js';
import type { CatalogDefinitions, CatalogSource } from '../../../extensions/catalog/live-catalog.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import { definitionsOf } from './module-definitions.js';

/** The options of `folder`. */
export interface FolderOptions {
  /**
   * Looks at the files in this interval, in milliseconds, and loads those that have changed. For development: Node keeps every version
   * of a module in memory. Default: the folder is read once, and again with `reload()`.
   */
  readonly watchMs?: number;
}

const optionTable = {
  watchMs: { is: 'ms', min: 10, max: 86_400_000 },
} as const satisfies OptionTable<FolderOptions>;
const EXTENSIONS = new Set(['.js', '.mjs', '.ts', '.mts']);
const MAX_FILES = 1000;

interface ModuleFile {
  readonly version: string;
  /** The definitions of the last version without a mistake. */
  readonly definitions: CatalogDefinitions | undefined;
  readonly problem: string | undefined;
}

/** The modules of a folder as a source of definitions. */
export function moduleFolder(folder: string | URL, options: FolderOptions = {}): CatalogSource {
  const { watchMs } = readOptions('folder', options, optionTable, { watch: 'watchMs', reload: 'watchMs' });
  const root = typeof folder === 'string' ? resolve(folder) : fileURLToPath(folder);
  let modules = new Map<string, ModuleFile>();

  async function load(): Promise<CatalogDefinitions> {
    const found = new Map<string, ModuleFile>();
    for (const [file, version] of await versionsIn(root)) {
      const known = modules.get(file);
      found.set(file, known?.version === version ? known : await importFile(root, file, { version, known }));
    }
    modules = found;
    return merge(modules);
  }

  async function hasChanged(): Promise<boolean> {
    const versions = await versionsIn(root);
    return (
      versions.size !== modules.size ||
      [...versions].some(([file, version]) => modules.get(file)?.version !== version)
    );
  }

  return {
    load,
    ...(watchMs !== undefined && {
      watch(onChange: () => void) {
        return every(watchMs, async () => {
          // A folder that cannot be read is reported by the load.
          if (await hasChanged().catch(() => true)) onChange();
        });
      },
    }),
  };
}

/** The modules in a folder, and in its folders, each with a string that changes with the file. Names that begin with "_" or "." are left out. */
async function versionsIn(root: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(root, { recursive: true });
  const files = entries.filter(isModule).sort();
  if (files.length > MAX_FILES)
    throw new RangeError(`The folder ${root} has ${files.length} modules; at most ${MAX_FILES} are allowed.`);
  const versions = await Promise.all(
    files.map(async (file) => {
      // A file that is removed meanwhile is not there any more.
      const stats = await stat(join(root, file)).catch(() => undefined);
      return stats?.isFile()
        ? ([file, `${stats.mtimeMs}-${stats.ctimeMs}-${stats.size}`] as const)
        : undefined;
    }),
  );
  return new Map(versions.filter((each) => each !== undefined));
}

function isModule(path: string): boolean {
  const isHidden = path
    .split(/[/\\]/)
    .some((part) => part.startsWith('_') || part.startsWith('.') || part === 'node_modules');
  return !isHidden && EXTENSIONS.has(extname(path)) && !/\.d\.m?ts$/.test(path);
}

async function importFile(
  root: string,
  file: string,
  { version, known }: { readonly version: string; readonly known: ModuleFile | undefined },
): Promise<ModuleFile> {
  try {
    const url = pathToFileURL(join(root, file));
    // Node keeps modules by their address, those that failed, too.
    url.searchParams.set('v', version);
    const module: object = await import(/* @vite-ignore */ url.href);
    const definitions = definitionsOf(basename(file, extname(file)), module);
    return { version, definitions, problem: undefined };
  } catch (error) {
    const problem = `${file}: ${error instanceof Error ? error.message : String(error)}`;
    return { version, definitions: known?.definitions, problem };
  }
}

/** Merges the definitions of all files. The first file that has a name keeps it. */
function merge(modules: ReadonlyMap<string, ModuleFile>): CatalogDefinitions {
  const merged = { tools: {}, resources: {}, prompts: {} } as Record<
    'tools' | 'resources' | 'prompts',
    Record<string, never>
  >;
  const problems: string[] = [];
  for (const [file, { definitions = {}, problem }] of modules) {
    if (problem !== undefined) problems.push(problem);
    for (const kind of ['tools', 'resources', 'prompts'] as const) {
      for (const [name, definition] of Object.entries(definitions[kind] ?? {})) {
        if (Object.hasOwn(merged[kind], name))
          problems.push(`${file}: another file has "${name}" in "${kind}" already`);
        else merged[kind][name] = definition as never;
      }
    }
  }
  return { ...merged, problems };
}
