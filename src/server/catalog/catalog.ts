// Named definitions, and the list of them that a caller sees.

import type { Outcome } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import type { CompiledAccess } from '../access/access.js';
import type { Gate } from '../access/gate.js';
import { type Guarded, Views } from '../access/views.js';
import { Pages, type PagesOptions } from './pages.js';

/** The options of a catalog. */
export interface CatalogOptions<T> extends PagesOptions<T> {
  readonly gate: Gate;
}

/** The number of removed entries whose rules are remembered. */
const MAX_REMOVED = 1000;

/**
 * Named definitions in the order in which they were added, and their list as prepared JSON. The list is printed for the first request
 * after a change; later requests get the same JSON. If entries have rules, there is one list for each set of entries that callers see.
 */
export class Catalog<T extends Guarded> {
  readonly #entries = new Map<string, T>();
  readonly #options: CatalogOptions<T>;
  #pages: Pages<T> | undefined;
  #views: Views<T, Pages<T>> | undefined;
  #guarded = 0;
  #version = 0;
  /** The rules of entries that were removed, for the announcements of their removal. */
  readonly #removed = new Map<string, CompiledAccess>();

  constructor(options: CatalogOptions<T>) {
    this.#options = options;
  }

  /** A number that changes with every change of the entries. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether an entry has rules, so that the list depends on the caller. */
  get isGuarded(): boolean {
    return this.#guarded > 0;
  }

  /** Whether the rules of an entry are known, even if it was removed. */
  get knowsRules(): boolean {
    return this.isGuarded || this.#removed.size > 0;
  }

  get(name: string): T | undefined {
    return this.#entries.get(name);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  all(): readonly (readonly [name: string, entry: T])[] {
    return [...this.#entries];
  }

  values(): IterableIterator<T> {
    return this.#entries.values();
  }

  /** All entries. Those that have several versions are there with each of them. */
  versions(): readonly T[] {
    return [...this.#entries.values()].flatMap(versionsOf);
  }

  /** The rules of an entry, even of one that was removed; undefined if there are none, or the entry is unknown. */
  accessOf(name: string): CompiledAccess | undefined {
    const entry = this.#entries.get(name);
    return entry === undefined ? this.#removed.get(name) : entry.access;
  }

  add(name: string, entry: T): void {
    this.#entries.set(name, entry);
    this.#onChange(entry, 1);
  }

  /** Removes the entry unless another one has replaced it: an old registration cannot remove its successor. */
  remove(name: string, entry: T): boolean {
    if (this.#entries.get(name) !== entry) return false;
    this.#entries.delete(name);
    this.#onChange(entry, -1);
    this.#removed.delete(name);
    if (entry.access !== undefined) this.#removed.set(name, entry.access);
    const [oldest] = this.#removed.keys();
    if (this.#removed.size > MAX_REMOVED && oldest !== undefined) this.#removed.delete(oldest);
    return true;
  }

  /** The page of the caller's list at a cursor; the first page without one. */
  page(caller: Caller, cursor: unknown): Outcome | Promise<Outcome> {
    const list = this.#listFor(caller);
    return list instanceof Promise ? list.then((pages) => pages.at(cursor)) : list.at(cursor);
  }

  /** The names that the caller sees. */
  names(caller: Caller): readonly string[] | Promise<readonly string[]> {
    const list = this.#listFor(caller);
    return list instanceof Promise ? list.then(({ names }) => names) : list.names;
  }

  /** The entries that the caller sees. */
  entries(caller: Caller): readonly T[] | Promise<readonly T[]> {
    const list = this.#listFor(caller);
    return list instanceof Promise ? list.then(({ entries }) => entries) : list.entries;
  }

  #listFor(caller: Caller): Pages<T> | Promise<Pages<T>> {
    if (this.#guarded === 0) {
      this.#pages ??= new Pages(this.#entries, this.#options);
      return this.#pages;
    }
    this.#views ??= this.#newViews();
    return this.#views.of(caller);
  }

  #newViews(): Views<T, Pages<T>> {
    const { gate, hints } = this.#options;
    const options = { ...this.#options, hints: { ...hints, cacheScope: 'private' } };
    const entries = [...this.#entries].flatMap(([name, entry]) =>
      versionsOf(entry).map((version) => [name, version] as const),
    );
    return new Views(entries, { gate, make: (visible) => new Pages(visible, options) });
  }

  #onChange({ access }: T, count: 1 | -1): void {
    this.#pages = undefined;
    this.#views = undefined;
    this.#version += 1;
    if (access !== undefined) this.#guarded += count;
  }
}

// Rules decide which version a caller sees, so that entries with versions are always guarded.
function versionsOf<T extends Guarded>(entry: T): readonly T[] {
  return (entry as { readonly versions?: { readonly all: readonly T[] } }).versions?.all ?? [entry];
}
