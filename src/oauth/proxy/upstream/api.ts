import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { tryParse } from '../../../jsonrpc/try-parse.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';

/** A request to the API of a provider. */
interface ApiRequest {
  /** The access token to send. Default: none. */
  readonly token?: string | undefined;
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body, sent as JSON. Default: none. */
  readonly json?: JsonObject | undefined;
}

/** A reply of the API of a provider. */
interface ApiReply {
  readonly status: number;
  /** The body, if it is a JSON object. */
  readonly body: JsonObject | undefined;
  /** The body, if it is a JSON array. */
  readonly items: readonly unknown[];
}

/** Asks the API of a provider. Redirects are errors: an API does not need them, and they would take the token along. */
export async function readApi(
  fetch: SafeFetch,
  url: string,
  { token, method = 'GET', headers, json }: ApiRequest,
): Promise<ApiReply> {
  const response = await fetch(url, {
    method,
    redirect: 'error',
    headers: {
      accept: 'application/json',
      ...headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const value = tryParse(await response.text());
  return {
    status: response.status,
    body: isObject(value) ? value : undefined,
    items: Array.isArray(value) ? value : [],
  };
}
