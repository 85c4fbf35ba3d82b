import type { JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { displayUrl } from '../../protocol/secrets/display-url.js';
import { type SafeFetch, SafeFetchError, type SafeFetchInit } from '../fetch/safe-fetch.js';
import { DocumentError, type DocumentHop } from './document-error.js';

/** A JSON object, and the reply that it came in. */
export interface FetchedDocument {
  /** The address that was asked; redirects may have led elsewhere. */
  readonly url: string;
  readonly json: JsonObject;
  readonly headers: Headers;
}

export interface FetchDocumentOptions
  extends Pick<SafeFetchInit, 'loopback' | 'maxBytes' | 'timeoutMs' | 'redirect' | 'signal'> {
  readonly fetch: SafeFetch;
  readonly hop: DocumentHop;
}

/** The reply of a server that does not have a document at an address. */
export interface NoDocument {
  readonly status: number;
  /** A clause for messages: "https://as.example/x replied with 404". */
  readonly reply: string;
}

/**
 * Fetches a JSON object. A reply with another status, or without a JSON object, is returned and not thrown: many sites reply to
 * every unknown path with a page.
 */
export async function fetchDocument(
  url: string,
  { fetch, hop, ...init }: FetchDocumentOptions,
): Promise<FetchedDocument | NoDocument> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers: { accept: 'application/json' } });
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error;
    throw new DocumentError(hop, 'unreachable', `The ${hop} cannot be fetched. ${error.message}`, {
      cause: error,
    });
  }
  const { status, headers } = response;
  const said = `${displayUrl(url)} replied with ${status}`;
  if (status !== 200) return { status, reply: said };
  const json = tryParseObject(await response.text());
  const type = headers.get('content-type')?.split(';', 1)[0]?.slice(0, 60) ?? 'no content type';
  return json === undefined
    ? { status, reply: `${said} and ${type}, which is not a JSON object` }
    : { url, json, headers };
}
