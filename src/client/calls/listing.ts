import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { Listing } from '../model/client.js';

/** A server whose pages never end is not followed for ever. */
const MAX_PAGES = 10_000;
/** What all pages but the first may have together, as JSON: whoever wants the whole list has to keep it. */
const MAX_LENGTH = 128 * 1024 * 1024;

export interface ListingParts {
  readonly fetchPage: (params: JsonObject) => Promise<Outcome>;
  readonly problem: (message: string) => void;
}

/** Walks the pages of a list as they are asked for. What is no entry is left out and reported. */
export function listing<T>(field: string, { fetchPage, problem }: ListingParts): Listing<T> {
  async function* items(): AsyncGenerator<T, void, undefined> {
    let cursor: unknown;
    const seen = new Set<unknown>();
    let length = 0;
    for (let page = 0; page < MAX_PAGES; page++) {
      const outcome = await fetchPage(cursor === undefined ? {} : { cursor });
      const list = outcome[field];
      if (page > 0) length += JSON.stringify(outcome).length;
      if (length > MAX_LENGTH)
        throw new McpError(
          'bad_response',
          `The server's list of ${field} is larger than ${MAX_LENGTH} characters`,
        );
      if (!Array.isArray(list)) throw new McpError('bad_response', `The server's list has no "${field}"`);
      const entries = list.filter(isObject);
      if (entries.length < list.length)
        problem(
          `The server's list of ${field} has ${list.length - entries.length} entries that are none; left out`,
        );
      yield* entries as T[];
      cursor = outcome['nextCursor'];
      if (typeof cursor !== 'string') return;
      if (seen.has(cursor))
        throw new McpError('bad_response', `The server's list of ${field} goes round in circles`);
      seen.add(cursor);
    }
    throw new McpError('bad_response', `The server's list of ${field} has more than ${MAX_PAGES} pages`);
  }
  return {
    [Symbol.asyncIterator]: items,
    async all() {
      const all: T[] = [];
      for await (const item of items()) all.push(item);
      return all;
    },
  };
}
