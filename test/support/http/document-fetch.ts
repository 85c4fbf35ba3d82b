import type { SafeFetch, SafeFetchInit } from '../../../src/oauth/fetch/safe-fetch.js';

/** A reply: a JSON document, a status, or both with headers. */
export type CannedDocument = object | number | Response | (() => Response);

export interface DocumentFetch {
  readonly fetch: SafeFetch;
  readonly asked: string[];
  readonly inits: SafeFetchInit[];
}

/** A fetch that replies from a table, and with 404 to everything else. */
export function documentFetch(table: Readonly<Record<string, CannedDocument>>): DocumentFetch {
  const asked: string[] = [];
  const inits: SafeFetchInit[] = [];
  const fetch: SafeFetch = async (url, init = {}) => {
    asked.push(String(url));
    inits.push(init);
    const canned = table[String(url)] ?? 404;
    if (canned instanceof Response) return canned;
    if (typeof canned === 'function') return canned();
    return typeof canned === 'number' ? new Response('no', { status: canned }) : Response.json(canned);
  };
  return { fetch, asked, inits };
}
