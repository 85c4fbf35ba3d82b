// Definitions that come from anywhere, kept up to date in a running server.

import { Turns } from '../../async/turns.js';
import { checkOptions, type OptionTable } from '../../protocol/checks/options.js';
import { DefinitionError } from '../../server/catalog/compile.js';
import type { Registration } from '../../server/catalog/registry.js';
import type { Prompt } from '../../server/define/prompt.js';
import type { Tool } from '../../server/define/tool.js';
import type { Awaitable } from '../../server/define/tool-handler.js';
import { internalsOf, type ServerInternals } from '../../server/mount/internals.js';

/** The definitions of a catalog. */
export interface CatalogDefinitions {
  /** The tools by name. */
  readonly tools?: Readonly<Record<string, Tool<unknown, never, never>>>;
  /** The resources and templates by URI: `resource({ … })`. */
  readonly resources?: Readonly<Record<string, object>>;
  /** The prompts by name. */
  readonly prompts?: Readonly<Record<string, Prompt<never, never, never>>>;
  /** Parts that could not be read, one sentence each. They are reported. Default: none. */
  readonly problems?: readonly string[];
}

/** A source of definitions: a database, a folder, another program. */
export interface CatalogSource {
  /**
   * Loads all definitions. A definition that is the same object as before stays as it is; one that is missing is removed. If it fails,
   * all definitions stay as they are.
   */
  readonly load: () => Awaitable<CatalogDefinitions>;
  /** Calls `onChange` when the definitions may have changed. Returns a function that ends that. Default: only `reload()` loads again. */
  readonly watch?: (onChange: () => void) => () => void;
}

/** A catalog that was added to a server. */
export interface AddedCatalog {
  /**
   * Loads the definitions again. Subscribed clients are notified of changes, and running calls are not touched. Rejects with a
   * `DefinitionError` that names all problems; a definition with a problem stays as it was.
   */
  readonly reload: () => Promise<void>;
  /** Removes the definitions, and ends `watch`. */
  readonly remove: () => void;
}

const kinds = { tools: 'tool', resources: 'resource', prompts: 'prompt' } as const;
const definitionTable = {
  tools: 'object',
  resources: 'object',
  prompts: 'object',
  problems: 'strings',
} as const satisfies OptionTable<CatalogDefinitions>;
const sourceTable = {
  load: { is: 'function', required: true },
  watch: 'function',
} as const satisfies OptionTable<CatalogSource>;

/** The number of definitions of one catalog. */
const MAX_DEFINITIONS = 10_000;

/** Adds the definitions of a source to a server, which it removes again when it is closed. */
export async function addLiveCatalog(server: unknown, source: CatalogSource): Promise<AddedCatalog> {
  const internals = internalsOf(server);
  if (internals === undefined || internals.view !== undefined)
    throw new TypeError('addCatalog: the first argument must be a server that createServer({ … }) made');
  checkOptions('addCatalog', source, sourceTable);
  const catalog = new LiveCatalog(source, internals);
  try {
    await catalog.reload();
  } catch (error) {
    catalog.remove();
    throw error;
  }
  catalog.watch();
  internals.attach({ close: async () => catalog.stop() });
  return { reload: () => catalog.reload(), remove: () => catalog.remove() };
}

interface Entry {
  readonly definition: unknown;
  readonly add: () => Registration;
  readonly registration: Registration;
}

class LiveCatalog {
  readonly #source: CatalogSource;
  readonly #server: ServerInternals;
  readonly #entries = new Map<string, Entry>();
  readonly #reloads = new Turns();
  /** A reload that has not begun to load. It serves all that ask for one meanwhile. */
  #next: Promise<void> | undefined;
  #unwatch: (() => void) | undefined;
  #isEnded = false;

  constructor(source: CatalogSource, server: ServerInternals) {
    this.#source = source;
    this.#server = server;
  }

  reload(): Promise<void> {
    // One after the other: an earlier load that is slow must not overwrite a later one.
    this.#next ??= this.#reloads.take(() => {
      this.#next = undefined;
      return this.#load();
    });
    return this.#next;
  }

  watch(): void {
    this.#unwatch = this.#source.watch?.(() => {
      this.reload().catch((error: unknown) =>
        this.#server.log(
          'error',
          'A catalog could not be reloaded in full. The parts that failed stay as they were',
          error,
        ),
      );
    });
  }

  stop(): void {
    this.#isEnded = true;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  remove(): void {
    this.stop();
    for (const { registration } of this.#entries.values()) registration.remove();
    this.#entries.clear();
  }

  async #load(): Promise<void> {
    if (this.#isEnded) return;
    const loaded = await this.#source.load();
    if (this.#isEnded) return;
    checkOptions('the result of "load"', loaded, definitionTable);
    const found = new Map<string, readonly [kind: keyof typeof kinds, name: string, definition: unknown]>();
    for (const kind of ['tools', 'resources', 'prompts'] as const)
      for (const [name, definition] of Object.entries(loaded[kind] ?? {}))
        found.set(`${kind} ${name}`, [kind, name, definition]);
    if (found.size > MAX_DEFINITIONS)
      throw new RangeError(
        `A catalog has at most ${MAX_DEFINITIONS} definitions, but "load" returned ${found.size}.`,
      );
    for (const [key, { registration }] of this.#entries) {
      if (found.has(key)) continue;
      registration.remove();
      this.#entries.delete(key);
    }
    const problems = [...(loaded.problems ?? [])];
    for (const [key, [kind, name, definition]] of found) {
      try {
        this.#set(key, kinds[kind], name, definition);
      } catch (error) {
        problems.push(
          ...(error instanceof DefinitionError
            ? error.problems
            : [`${kinds[kind]} "${name}": ${String(error)}`]),
        );
      }
    }
    if (problems.length > 0) throw new DefinitionError(problems);
  }

  // Without an await, so that no call comes between the old definition and the new one.
  #set(...[key, kind, name, definition]: [string, 'tool' | 'resource' | 'prompt', string, unknown]): void {
    const known = this.#entries.get(key);
    if (known?.definition === definition) return;
    const add = this.#server.prepare(kind, name, definition);
    known?.registration.remove();
    try {
      this.#entries.set(key, { definition, add, registration: add() });
    } catch (error) {
      // A server that this one is mounted in may refuse the name.
      if (known !== undefined) this.#entries.set(key, { ...known, registration: known.add() });
      throw error;
    }
  }
}
