// Everything that a caller sees in a list of a server.

import { isObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { listOf } from '../document/operations.js';
import { restPeer } from './rest-endpoint.js';

const MAX_PAGES = 1000;

/** A list of a server. */
export interface WholeList<T> {
  readonly items: readonly T[];
  /** The outcomes that have the items. A server returns the same frozen ones until the list changes. */
  readonly pages: readonly Outcome[];
}

/** Reads all pages of a list; empty if the server does not have it. */
export async function listAll<T>(
  dispatch: Dispatch,
  {
    list,
    caller,
  }: { readonly list: 'tools' | 'prompts' | 'resources'; readonly caller: Pick<Call, 'auth' | 'http'> },
): Promise<WholeList<T>> {
  const items: unknown[] = [];
  let cursor: unknown;
  const pages: Outcome[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    try {
      const outcome = await dispatch({
        ...{
          id: `rest-${list}`,
          method: `${list}/list`,
          params,
          peer: restPeer,
          via: { transport: 'http' },
          ...caller,
        },
        ...{ signal: new AbortController().signal, notify: () => undefined },
      });
      items.push(...listOf(outcome[list]).filter((item) => isObject(item)));
      cursor = outcome['nextCursor'];
      pages.push(outcome);
    } catch (error) {
      if (McpError.is(error) && error.code === 'method_not_found') break;
      throw error;
    }
    if (typeof cursor !== 'string') break;
  }
  return { items: items as T[], pages };
}
