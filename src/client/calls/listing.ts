import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { Listing } from '../model/client.js';

// Lists that a server sends page by page.

/** The client stops fetching after this many pages: a server's list might never end. */
const MAX_PAGES = 10_000;
/** The size limit for all pages but the first, in characters of JSON: `all()` keeps them in memory. */
const MAX_LENGTH = 128 * 1024 * 1024;

/** The number of times that a list is read again because it changed while it was read. */
const MAX_RESTARTS = 3;

export interface ListingParts {
  /** Fetches a page; with `isAgain`, from the server, because the cached pages do not belong together. */
  readonly fetchPage: (params: JsonObject, isAgain: boolean) => Promise<Outcome>;
  readonly problem: (message: string) => void;
}

/** Fetches the pages of a list as it is iterated. Entries that are not objects are skipped and reported. */
export function listing<T>(field: string, { fetchPage, problem }: ListingParts): Listing<T> {
  async function* items(isAgain = false): AsyncGenerator<T, void, undefined> {
    let cursor: unknown;
    let tag: unknown;
    const cursors = new Set<unknown>();
    let length = 0;
    for (let page = 0; page < MAX_PAGES; page++) {
      const outcome = await fetchPage(cursor === undefined ? {} : { cursor }, isAgain);
      if (page === 0) ({ tag } = outcome);
      else if (outcome['tag'] !== tag) throw new ListChanged(field);
      const list = outcome[field];
      if (page > 0) length += JSON.stringify(outcome).length;
      if (length > MAX_LENGTH)
        throw new McpError(
          'bad_response',
          `The server's list of ${field} is larger than ${MAX_LENGTH} characters`,
        );
      if (!Array.isArray(list))
        throw new McpError('bad_response', `The server's result needs "${field}", an array`);
      const entries = list.filter(isObject);
      if (entries.length < list.length)
        problem(
          `Skipped ${list.length - entries.length} entries in the server's list of ${field}: they are not objects`,
        );
      yield* entries as T[];
      cursor = outcome['nextCursor'];
      if (typeof cursor !== 'string') return;
      if (cursors.has(cursor))
        throw new McpError('bad_response', `The server's list of ${field} repeats a page`);
      cursors.add(cursor);
    }
    throw new McpError('bad_response', `The server's list of ${field} has more than ${MAX_PAGES} pages`);
  }
  return {
    [Symbol.asyncIterator]: () => items(),
    async all() {
      for (let restarts = 0; ; restarts++) {
        try {
          return await toListing(() => items(restarts > 0)).all();
        } catch (error) {
          if (!(error instanceof ListChanged) || restarts === MAX_RESTARTS) throw error;
        }
      }
    },
  };
}

/** The pages of a list have different tags. Draft "Definition Tags": they must not be combined. */
class ListChanged extends McpError {
  constructor(field: string) {
    super(
      'bad_response',
      `The server's list of ${field} changed while it was read. Read it again from its first page.`,
    );
  }
}

/** A list that is fetched anew with each iteration. */
export function toListing<T>(items: () => AsyncIterator<T, void, undefined>): Listing<T> {
  const listed: Listing<T> = {
    [Symbol.asyncIterator]: items,
    async all() {
      const all: T[] = [];
      for await (const item of listed) all.push(item);
      return all;
    },
  };
  return listed;
}
