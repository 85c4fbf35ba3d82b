// A list as prepared JSON, page by page.

import type { JsonObject } from '../../jsonrpc/message.js';
import { type Outcome, printOutcome, withPrint } from '../../protocol/call.js';
import { decodeBase64Url, encodeBase64Url } from '../../protocol/encoding/base64.js';
import { McpError } from '../../protocol/errors.js';
import type { Complete } from '../results/results.js';

/** The options of a list. */
export interface PagesOptions<T> {
  /** The field of the list result: `tools`, `resources` … */
  readonly field: string;
  readonly list: (entry: T) => object;
  readonly pageSize: number;
  /** The fields of every page besides its items. */
  readonly hints: JsonObject;
  readonly complete: Complete;
}

/** A list of entries that does not change, printed once. */
export class Pages<T> {
  readonly names: readonly string[];
  readonly entries: readonly T[];
  readonly #options: PagesOptions<T>;
  /** Printed for the first request: the names and entries alone may be all that is needed. */
  #printed: ReadonlyMap<string | undefined, Outcome> | undefined;

  constructor(entries: Iterable<readonly [name: string, entry: T]>, options: PagesOptions<T>) {
    const all = [...entries];
    this.names = all.map(([name]) => name);
    this.entries = all.map(([, entry]) => entry);
    this.#options = options;
  }

  get #pages(): ReadonlyMap<string | undefined, Outcome> {
    this.#printed ??= this.#print();
    return this.#printed;
  }

  /** The length of the JSON of all pages. */
  get length(): number {
    let length = 0;
    for (const page of this.#pages.values()) length += printOutcome(page).length;
    return length;
  }

  /** The page at a cursor; the first page without one. */
  at(cursor: unknown): Outcome {
    if (cursor !== undefined && typeof cursor !== 'string') {
      throw new McpError('invalid_params', 'params.cursor must be a string');
    }
    return this.#pages.get(cursor) ?? this.#after(cursor as string);
  }

  #print(): Map<string | undefined, Outcome> {
    const { pageSize } = this.#options;
    const pages = new Map<string | undefined, Outcome>();
    let cursor: string | undefined;
    let from = 0;
    do {
      pages.set(cursor, withPrint(this.#slice(from)));
      from += pageSize;
      cursor = cursorAfter(this.names[from - 1]);
    } while (from < this.names.length);
    return pages;
  }

  // A cursor from before a change, or of a caller that sees other entries, works if the entry that it names is in this list. One that
  // names a hidden entry is unknown, so that cursors do not tell which names exist.
  #after(cursor: string): Outcome {
    const at = this.names.indexOf(readCursor(cursor) ?? '');
    if (at === -1) {
      throw new McpError(
        'invalid_params',
        'Unknown cursor: the list has changed. Start again without a cursor.',
      );
    }
    return this.#slice(at + 1);
  }

  #slice(from: number): Outcome {
    const { field, list, pageSize, hints, complete } = this.#options;
    const to = from + pageSize;
    const items = this.entries.slice(from, to).map((entry) => list(entry));
    const nextCursor = to < this.names.length ? cursorAfter(this.names[to - 1]) : undefined;
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
