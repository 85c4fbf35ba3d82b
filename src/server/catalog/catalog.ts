// Lists of definitions, printed once and returned page by page.

import type { JsonObject } from '../../jsonrpc/message.js';
import { type Outcome, withPrint } from '../../protocol/call.js';
import { decodeBase64Url, encodeBase64Url } from '../../protocol/encoding/base64.js';
import { McpError } from '../../protocol/errors.js';
import type { Complete } from '../results/results.js';

/** The options of a catalog. */
export interface CatalogOptions<T> {
  /** The field of the list result: `tools`, `resources` … */
  readonly field: string;
  readonly list: (entry: T) => object;
  readonly pageSize: number;
  /** The fields of every page besides its items. */
  readonly hints: JsonObject;
  readonly complete: Complete;
}

/**
 * Named definitions in the order in which they were added, and their list as prepared JSON. The pages are printed for the first
 * request after a change; later requests get the same JSON.
 */
export class Catalog<T> {
  readonly #entries = new Map<string, T>();
  readonly #options: CatalogOptions<T>;
  #pages: Map<string | undefined, Outcome> | undefined;

  constructor(options: CatalogOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): T | undefined {
    return this.#entries.get(name);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  names(): IterableIterator<string> {
    return this.#entries.keys();
  }

  values(): IterableIterator<T> {
    return this.#entries.values();
  }

  add(name: string, entry: T): void {
    this.#entries.set(name, entry);
    this.#pages = undefined;
  }

  /** Removes the entry unless another one has replaced it: an old registration cannot remove its successor. */
  remove(name: string, entry: T): boolean {
    if (this.#entries.get(name) !== entry) return false;
    this.#pages = undefined;
    return this.#entries.delete(name);
  }

  /** The page of the list at a cursor; the first page without one. */
  page(cursor: unknown): Outcome {
    if (cursor !== undefined && typeof cursor !== 'string') {
      throw new McpError('invalid_params', 'params.cursor must be a string');
    }
    this.#pages ??= this.#print();
    return this.#pages.get(cursor) ?? this.#pageAfter(cursor as string);
  }

  #print(): Map<string | undefined, Outcome> {
    const { pageSize } = this.#options;
    const names = [...this.#entries.keys()];
    const pages = new Map<string | undefined, Outcome>();
    let cursor: string | undefined;
    let from = 0;
    do {
      pages.set(cursor, withPrint(this.#slice(names, from)));
      from += pageSize;
      cursor = cursorAfter(names[from - 1]);
    } while (from < names.length);
    return pages;
  }

  // A cursor from before a change still works if the entry that it names still exists.
  #pageAfter(cursor: string): Outcome {
    const names = [...this.#entries.keys()];
    const at = names.indexOf(readCursor(cursor) ?? '');
    if (at === -1) {
      throw new McpError(
        'invalid_params',
        'Unknown cursor: the list has changed. Start again without a cursor.',
      );
    }
    return this.#slice(names, at + 1);
  }

  #slice(names: readonly string[], from: number): Outcome {
    const { field, list, pageSize, hints, complete } = this.#options;
    const to = from + pageSize;
    const items = names.slice(from, to).map((name) => list(this.#entries.get(name) as T));
    const nextCursor = to < names.length ? cursorAfter(names[to - 1]) : undefined;
    return complete({ [field]: items, ...(nextCursor !== undefined && { nextCursor }), ...hints });
  }
}

function cursorAfter(name: string | undefined): string | undefined {
  return name === undefined ? undefined : encodeBase64Url(new TextEncoder().encode(name));
}

function readCursor(cursor: string): string | undefined {
  const bytes = decodeBase64Url(cursor);
  return bytes && new TextDecoder().decode(bytes);
}
